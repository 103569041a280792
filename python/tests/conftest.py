from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kit.fake_checkpoint import FakeCheckpoint

# How long an example takes says nothing on a busy machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def fake(tmp_path: Path) -> FakeCheckpoint:
    return FakeCheckpoint(tmp_path / "cp")
