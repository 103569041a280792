"""Text that may be shown: names come from files, and files may hold anything."""

from __future__ import annotations

import re

# What controls a terminal, or turns the order of letters: C0 without the end of a line, C1, line
# and paragraph separators, marks of direction, halves of characters.
_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text, what would control a terminal spelled out by number: U+001B in hex, and so on."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
