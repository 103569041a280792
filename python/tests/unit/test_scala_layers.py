"""Scala packages import what their `package.scala` says, and no circle is among them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = [*ROOT.glob("jvm/core/src/main/scala*"), *ROOT.glob("jvm/spark/src/main/scala*")]
# Of Keyfold's own; Spark's and Java's are not counted.
OURS = re.compile(r"\b(?:io\.keyfold|org\.apache\.spark\.sql\.keyfold)(?:\.[a-z]\w*)*")


def packages() -> dict[str, str]:
    """The code of each package, without comments and texts."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for file in folder.rglob("*.scala"):
            name = ".".join(file.relative_to(folder).parts[:-1])
            code = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
            code = re.sub(r"//.*|\"(\\.|[^\"\\\n])*\"", "", code)
            found[name] = found.get(name, "") + code
    return found


PACKAGES = packages()


def short(name: str) -> str:
    return name.removeprefix("org.apache.spark.").removeprefix("io.keyfold.")


def imported(name: str) -> set[str]:
    code = re.sub(r"^package .*", "", PACKAGES[name], flags=re.MULTILINE)
    return {short(it) for it in OURS.findall(code) if it in PACKAGES} - {short(name)}


def said(name: str) -> set[str]:
    [file] = [
        it
        for folder in FOLDERS
        if (it := folder / name.replace(".", "/") / "package.scala").exists()
    ]
    text = re.sub(r"\s*\n\s*\*\s*", " ", file.read_text(encoding="utf-8"))
    [list_] = re.findall(r"Imports: (.*?)\. ", text)
    return set() if list_ == "nothing" else set(re.findall(r"`([\w.]+)`", list_))


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_a_package_says_what_it_imports(name: str) -> None:
    assert said(name) == imported(name)


def test_the_access_to_sparks_private_api_has_nothing_of_keyfolds() -> None:
    """A feature that only happens to need such an access belongs to a package of its own."""
    assert imported("org.apache.spark.sql.keyfold") == {"errors"}


def test_no_package_imports_itself_by_way_of_others() -> None:
    left = {name: {it for it in PACKAGES if short(it) in imported(name)} for name in PACKAGES}
    while free := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in free}
    assert left == {}
