"""What all of these tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kit.session import ENVIRONMENT


@pytest.fixture(autouse=True, scope="session")
def one_jvm() -> Iterator[None]:
    """A test whose call starts the process's JVM gives it what later tests need, S3A's jars."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield
