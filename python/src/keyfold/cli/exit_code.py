"""Exit codes of the command."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes; click also exits with 2 if the command line is wrong."""

    DONE = 0
    NO = 1  # it worked, and the answer is no: damage was found, or the key is not there
    USAGE = 2
    FAILED = 3  # it could not be done, for example because a file cannot be read
