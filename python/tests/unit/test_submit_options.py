"""Options of spark-submit, told from the program that they would start."""

from __future__ import annotations

import pytest

from keyfold._jvm import session_as_submitted
from keyfold.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["query.py"], "query.py"),
        (["--master", "yarn", "query.py", "--to", "delta"], "query.py"),
        (["--conf=a=b", "--verbose", "app.jar"], "app.jar"),
        (["--class", "A", "-v", "app.jar", "x"], "app.jar"),
    ],
)
def test_a_program_is_refused_and_not_started(options: list[str], word: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"'{word}' is no option of spark-submit"):
        session_as_submitted(options, None).__enter__()
