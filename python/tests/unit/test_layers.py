"""Which module may import which: no circle among modules, nor among packages."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import keyfold
from python.tests.unit.imports import circle, imports, modules

ROOT = Path(keyfold.__file__).parent
MODULES = modules(ROOT, ROOT.parent)


def package_of(module: str) -> str:
    """The package that it is in; a module at the root is one by itself."""
    return ".".join(module.split(".")[:2])


def test_no_modules_import_each_other() -> None:
    assert circle({it: imports(it, MODULES) for it in MODULES}) == []


def test_no_packages_import_each_other() -> None:
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        here = package_of(module)
        others = {package_of(it) for it in imports(module, MODULES)} - {here}
        graph.setdefault(here, set()).update(others)
    assert circle(graph) == []


@pytest.mark.parametrize(
    "package", sorted({it for it in MODULES if MODULES[it].name == "__init__.py"} - {"keyfold"})
)
def test_a_package_says_what_it_imports(package: str) -> None:
    its = {
        it for module in MODULES if package_of(module) == package for it in imports(module, MODULES)
    }
    names = sorted({package_of(it).removeprefix("keyfold.") for it in its} - {package[8:]})
    told = ast.get_docstring(ast.parse(MODULES[package].read_text()))
    assert told is not None
    assert " ".join(told.split("Imports: ")[1].split()) == f"{', '.join(names) or 'nothing'}."


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})


@pytest.mark.parametrize(
    "module", sorted(it for it in MODULES if not MODULES[it].name.startswith("__"))
)
def test_pyspark_is_imported_where_it_is_needed_alone(module: str) -> None:
    users = {
        "keyfold._jvm",
        "keyfold.flink",
        "keyfold.fsck.runner",
        "keyfold.subtasks.arguments",
        "keyfold.subtasks.converters",
        "keyfold.subtasks.operator",
        "keyfold.subtasks.processor",
        "keyfold.table.spark_frame",
    }
    at_run_time = any(
        isinstance(node, (ast.Import, ast.ImportFrom)) and "pyspark" in ast.unparse(node)
        for node in ast.walk(_without_types(ast.parse(MODULES[module].read_text())))
    )
    assert at_run_time == (module in users)


def _without_types(tree: ast.Module) -> ast.Module:
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return ast.Module(body, [])
