"""Which folder of tests may import which: each the kit, and none of the others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from kit.places import INTEGRATION_TESTS, ROOT
from python.tests.unit.imports import circle, imported, imports, modules

KIT = INTEGRATION_TESTS / "kit"
MODULES = {
    **modules(INTEGRATION_TESTS, INTEGRATION_TESTS),
    **modules(ROOT / "python" / "tests", ROOT),
    **modules(ROOT / "demo" / "tests", ROOT),
}


def folder_of(module: str) -> Path:
    """The folder that it is in; the kit is one with the folders below it."""
    folder = MODULES[module].parent
    return KIT if folder.is_relative_to(KIT) else folder


def test_of_other_folders_of_tests_only_the_kit_is_imported() -> None:
    assert [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports(module, MODULES)
        if folder_of(other) not in {KIT, folder_of(module)}
    ] == []


def test_the_kit_knows_keyfold_and_neither_demo_nor_benchmarks() -> None:
    kit = {module for module in MODULES if folder_of(module) == KIT}
    assert "kit.session" in kit
    found = {name.partition(".")[0] for module in kit for name in imported(MODULES[module])}
    assert "keyfold" in found
    assert not found & {"bench", "build", "demo"}


def test_modules_of_tests_are_imported_by_their_full_names() -> None:
    # By its name alone a job would find one beside it, and nobody else would.
    short = {file.stem for file in MODULES.values()} - MODULES.keys()
    assert [
        f"{module} imports {name}"
        for module, file in MODULES.items()
        for name in imported(file)
        if name.partition(".")[0] in short
    ] == []


def test_no_modules_of_tests_import_each_other() -> None:
    assert circle({it: imports(it, MODULES) for it in MODULES}) == []


def test_no_two_files_of_tests_have_one_name() -> None:
    names = Counter(file.stem for file in MODULES.values() if file.stem.startswith("test_"))
    assert [name for name, files in names.items() if files > 1] == []
