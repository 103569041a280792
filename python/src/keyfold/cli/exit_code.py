"""What the command's exit code tells a script."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Ends of a command; a wrong use of it ends with 2 as well, as click has it."""

    DONE = 0
    NO = 1  # it worked, and the answer is no: damage was found, or the key is not there
    USAGE = 2
    FAILED = 3  # it could not be done: what was to be read cannot be read
