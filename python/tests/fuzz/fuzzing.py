"""Runs of cases: some in every test run, for hours with FOR_SECONDS; SEED repeats a run."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

_MEBIBYTE = 1 << 20


def fuzz(times: int, body: Callable[[Random], None]) -> None:
    """Calls `body` with so many sources of chance; a failure names the seed of its run."""

    @settings(
        max_examples=times,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def case(random: Random) -> None:
        body(random)

    wanted = os.environ.get("SEED")
    start, done = time.monotonic(), 0
    while True:
        number = int(wanted) if wanted else SystemRandom().getrandbits(63)
        try:
            seed(number)(case)()
        except BaseException:
            sys.stderr.write(f"\nSEED={number} gives this again\n")
            raise
        done += times
        seconds = time.monotonic() - start
        if wanted or seconds >= float(os.environ.get("FOR_SECONDS", "0")):
            return
        sys.stderr.write(f"{done} in {seconds:.0f} s\n")


@contextmanager
def bounded(seconds: float, mebibytes: int, threads: int = 0) -> Iterator[None]:
    """Fails if its body takes longer, or has more in memory than before, at any moment.

    Seconds are of the processor; one that waits for ever ends after ten times as many.
    """
    before, limits = _peak(), resource.getrlimit(resource.RLIMIT_AS)
    start = time.process_time()
    # What is asked for counts too, and not only what is used; a thread asks for much by itself.
    room = (1024 + mebibytes + threads * 160) * _MEBIBYTE
    resource.setrlimit(resource.RLIMIT_AS, (_size() + room, limits[1]))
    handler = signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, seconds * 10)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, limits)
    taken = time.process_time() - start
    assert taken < seconds, f"it took {taken:.1f} s"
    more = (_peak() - before) // _MEBIBYTE
    assert more < mebibytes, f"it took {more} MiB"


def _late(*_: Any) -> None:
    raise AssertionError("it does not end")


def _peak() -> int:
    """Most bytes that this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _size() -> int:
    """Bytes of the process' address space."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
