"""What only some machines have: without it tests are skipped, or fail where it was promised."""

import os
from pathlib import Path
from unittest import SkipTest

from kit.places import ROOT

S3A = ROOT / "jvm/servers/target/s3a.classpath"


class NeededError(Exception):
    """Something is missing; the message says what to install."""


class SkippingError(NeededError, SkipTest):
    """The same, and a test that ends with it is skipped."""


def needed(file: Path, reason: str) -> Path:
    """The file. Raises NeededError with the reason without it, which says what to install."""
    if not file.is_file():
        required = os.environ.get("KEYFOLD_SERVERS") == "required"
        raise (NeededError if required else SkippingError)(reason)
    return file
