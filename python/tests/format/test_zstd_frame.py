"""What a Zstandard frame can hold, against frames of the library and by hand."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.wire.codec import Codec, decompress, most_bytes
from keyfold.wire.cursor import MalformedError
from kit.taken_apart import promising


@settings(deadline=None)
@given(st.binary(max_size=2000), st.integers(1, 300))
def test_a_frame_holds_no_more_than_that(part: bytes, times: int) -> None:
    raw = part * times
    frame = pa.compress(raw, codec="zstd", asbytes=True)
    assert most_bytes(frame) >= len(raw)
    assert decompress(frame, len(raw), Codec.ZSTD) == raw


@pytest.mark.parametrize("promised", [301, 1 << 20, 1 << 30, (1 << 31) - 1, (1 << 32) - 1])
def test_what_a_header_promises_is_not_believed(promised: int) -> None:
    frame = promising(promised, 300)
    assert most_bytes(frame) == 300
    with pytest.raises(MalformedError):
        decompress(frame, promised, Codec.ZSTD)


def test_runs_are_what_they_say() -> None:
    assert decompress(promising(300, 300), 300, Codec.ZSTD) == bytes(300)


@pytest.mark.parametrize("at", range(17))
def test_a_frame_that_is_cut_off_is_refused(at: int) -> None:
    frame = promising(300, 300)
    assert len(frame) == 17
    with pytest.raises(MalformedError):
        most_bytes(frame[:at])
    with pytest.raises(MalformedError):
        most_bytes(frame + struct.pack("B", at))
