"""A query of the user's, from a file of Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def load_query(place: str) -> Callable[[SparkSession], DataFrame]:
    """The function that `FILE.py:FUNCTION` names; the file is run, and may import its neighbours.

    Raises:
        InvalidArgumentError: there is no such file or function, or the file fails.
    """
    file, colon, name = place.rpartition(":")
    if not colon or not file or not name.isidentifier():
        raise InvalidArgumentError(
            f"Invalid query '{place}': give FILE.py:FUNCTION, a function that takes a session and "
            "returns what writeStream is called on."
        )
    path = Path(file)
    if not path.is_file():
        raise InvalidArgumentError(f"There is no file {file}.")
    # Not among the modules that workers import: its functions are sent to them as they are, and
    # the query before may have a file of the same name.
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidArgumentError(f"{file} is no file of Python.")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.absolute().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InvalidArgumentError(f"{file} fails: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    function = getattr(module, name, None)
    if not callable(function):
        raise InvalidArgumentError(f"{file} has no function {name}.")
    query: Callable[[SparkSession], DataFrame] = function
    return query
