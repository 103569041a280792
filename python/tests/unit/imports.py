"""Which of some modules import which, from their source alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def modules(below: Path, root: Path) -> dict[str, Path]:
    """The modules below a folder, as they are named where `root` is searched."""
    return {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for file in below.rglob("*.py")
    }


def imported(file: Path) -> Iterator[str]:
    """Everything, also within functions and for types alone."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            yield from (f"{node.module}.{name.name}" for name in node.names)


def imports(module: str, among: Mapping[str, Path]) -> set[str]:
    """Those that a module imports; not the packages above it."""
    found = set()
    for name in imported(among[module]):
        here = name if name in among else name.rpartition(".")[0]
        if here in among:
            found.add(here)
    return found - {module}


def circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
