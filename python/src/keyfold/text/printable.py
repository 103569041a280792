"""Makes text safe to show: names come from files, which can have any bytes."""

from __future__ import annotations

import re

# Characters that control a terminal or the direction of text: C0 except newline, C1, line and
# paragraph separators, direction marks, surrogates.
_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text, with control characters escaped as numbers, such as U+001B."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
