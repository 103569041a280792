from __future__ import annotations

import pytest

from keyfold.admin.bridge import lines
from keyfold.errors import FileCorruptError
from keyfold.text.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\u001b[2Jb"),
        ("\x07\x08\r\t\x7f\x9b", "\\u0007\\u0008\\u000d\\u0009\\u007f\\u009b"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\ud800", "\\ud800"),
        ("键 ß\n\U0001f600", "键 ß\n\U0001f600"),
    ],
)
def test_what_controls_a_terminal_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert shown in str(FileCorruptError(text))
    assert shown in lines([("", text)], applied=True)
