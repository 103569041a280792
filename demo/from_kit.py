"""Modules that need the kit of the tests, whose folder is on the path only when `make` says so."""

from importlib import import_module
from typing import Any

from demo.errors import DemoError


def from_kit(module: str, variable: str) -> Any:  # noqa: ANN401 - whatever the module has
    """Import a module for the sake of a variable that `make demo` was given, such as `WHERE=s3`."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise DemoError(
            f"{error}: with {variable} the demo is started by `make demo {variable}`, or with the "
            "folder integration-tests on PYTHONPATH"
        ) from error
