"""Looks at regular times, in a thread of its own each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Event, Thread
from typing import TypeAlias

from keyfold.errors import InvalidArgumentError, KeyfoldError
from keyfold.storage.storage import Storage
from keyfold.watch.look import Look
from keyfold.watch.watcher import Watcher

# Seconds between looks. A look at an object store costs money.
_INTERVAL_S, _INTERVAL_OF_OBJECTS_S = 2.0, 5.0
# How long the first look may take, if it is not told to look for longer.
_FIRST_LOOK_S = 60.0
# A wait without an end cannot be interrupted on each system.
_STEP_S = 0.2

Seen: TypeAlias = Look | KeyfoldError


class Looks:
    """Looks at a checkpoint until `seconds` are over, or for ever: iterate over them.

    A look that fails is its error; the next one tries again. The thread that iterates can be
    interrupted, also while a storage does not answer.
    """

    def __init__(self, storage: Storage, interval: float | None, seconds: float | None) -> None:
        """Nothing is read yet.

        Args:
            storage: the checkpoint.
            interval: seconds from one look to the next.
            seconds: how long to look. The first look may take a minute, and with 0 as long as it
                needs. One that has not ended at the end is left alone.

        Raises:
            InvalidArgumentError: one of them is not a time.
        """
        default = _INTERVAL_OF_OBJECTS_S if storage.remote else _INTERVAL_S
        self.interval = default if interval is None else interval
        if self.interval <= 0:
            raise InvalidArgumentError(f"Invalid interval {interval}: give seconds, more than 0.")
        if seconds is not None and seconds < 0:
            raise InvalidArgumentError(f"Invalid seconds {seconds}: give 0 or more.")
        self.path = storage.root
        self._seconds = seconds
        self._watcher = Watcher(storage)
        self._thread: Thread | None = None
        # Whether a look has ended; whether the last one had not when time was up, and its seconds.
        self.has_seen = False
        self.is_late = False
        self.waited_s = 0.0

    @property
    def is_looking(self) -> bool:
        """Whether a look has not ended, as when it was interrupted."""
        return self._thread is not None and self._thread.is_alive()

    def __iter__(self) -> Iterator[Seen]:
        """The looks, with pauses between them."""
        end = None if self._seconds is None else time.monotonic() + self._seconds
        latest = end
        if self._seconds is not None:
            latest = time.monotonic() + max(self._seconds, _FIRST_LOOK_S) if self._seconds else None
        while True:
            begun = time.monotonic()
            seen = self._look(latest)
            if seen is None:
                self.is_late, self.waited_s = True, time.monotonic() - begun
                return
            self.has_seen = True
            yield seen
            latest = end
            now = time.monotonic()
            if end is not None and now >= end:
                return
            until = begun + self.interval if end is None else min(begun + self.interval, end)
            time.sleep(max(until - now, 0))

    def _look(self, end: float | None) -> Seen | None:
        """A look; None if it has not ended by then."""
        found: list[Seen | BaseException] = []
        # An interrupted join would take the thread for one that has ended.
        done = Event()

        def look() -> None:
            try:
                found.append(self._watcher.look())
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                found.append(error)
            done.set()

        self._thread = Thread(target=look, name="keyfold-watch", daemon=True)
        self._thread.start()
        while not done.wait(_STEP_S):
            if end is not None and time.monotonic() >= end:
                return None
        (one,) = found
        if isinstance(one, (Look, KeyfoldError)):
            return one
        raise one
