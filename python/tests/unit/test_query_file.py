"""Files of queries, with what they import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from keyfold.cli.user_files import load_query
from keyfold.errors import InvalidArgumentError

QUERY = "import near\nimport far_of_evolve\n\n\ndef build(spark):\n    return near.NAME, spark\n"


def query_in(folder: Path, name: str) -> str:
    folder.mkdir()
    (folder / "near.py").write_text(f"NAME = {name!r}\n", encoding="utf-8")
    (folder / "app.py").write_text(QUERY, encoding="utf-8")
    return f"{folder / 'app.py'}:build"


def test_two_queries_have_neighbours_of_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a virtual environment in the folder of the query.
    packages = tmp_path / "one" / "environment"
    monkeypatch.syspath_prepend(str(packages))
    place = query_in(tmp_path / "one", "one")
    packages.mkdir()
    (packages / "far_of_evolve.py").write_text("", encoding="utf-8")
    session: Any = object()
    first, second = load_query(place), load_query(query_in(tmp_path / "two", "two"))
    assert (first(session), second(session)) == (("one", session), ("two", session))
    assert first(session) == ("one", session)
    assert "near" not in sys.modules
    assert sys.modules["far_of_evolve"]
    assert str(tmp_path / "one") not in sys.path


@pytest.mark.parametrize(
    ("content", "said"),
    [("f(", "SyntaxError"), ("1 / 0", "ZeroDivisionError"), ("build = 1", "no function build")],
)
def test_a_file_without_a_query_is_named(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "app.py").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidArgumentError, match=said):
        load_query(f"{tmp_path / 'app.py'}:build")


@pytest.mark.parametrize("place", ["app.py", ":build", "app.py:", "app.py:1", "nowhere.py:build"])
def test_what_names_no_query_is_refused(place: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"FILE\.py:FUNCTION|no file"):
        load_query(place)
