"""What only some machines have: without it tests are skipped, or fail where it was promised."""

import os
from pathlib import Path

import pytest

from kit.places import ROOT

S3A = ROOT / "jvm/servers/target/s3a.classpath"


def needed(file: Path, reason: str) -> Path:
    """The file. Without it the test is skipped with the reason, which says what to install."""
    if not file.is_file():
        if os.environ.get("KEYFOLD_SERVERS") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return file
