from __future__ import annotations

from pathlib import Path

import pytest

from kit.fake_checkpoint import FakeCheckpoint


@pytest.fixture
def fake(tmp_path: Path) -> FakeCheckpoint:
    return FakeCheckpoint(tmp_path / "cp")
