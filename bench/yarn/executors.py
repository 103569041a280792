"""The executors of an application, as processes of this machine."""

import os
import re
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROGRAM: Final = b"YarnCoarseGrainedExecutorBackend"
_RESIDENT: Final = re.compile(r"^Rss(?:Anon|File):\s+(\d+) kB$", re.MULTILINE)
_EVERY_S: Final = 0.2


def processes() -> Iterator[int]:
    """Process ids of executors that run now. Their containers' shells are not among them."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            program, *arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if program.endswith(b"java") and any(it.endswith(_PROGRAM) for it in arguments):
                yield int(folder.name)


def resident(process: int) -> int:
    """Bytes of a process that are in memory, its own and of files; 0: it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return sum(int(it) << 10 for it in _RESIDENT.findall(status))


class Watched:
    """Until it is closed, notes what executors take, and kills them all at some batches."""

    def __init__(self, log: Path, batch: re.Pattern[str], kill_at: Iterable[int]) -> None:
        """`log` is the driver's, in which each `batch` is a match; `kill_at`: after so many."""
        self.most_bytes = 0
        self.kills = 0
        self._log = log
        self._batch = batch
        self._kill_at = list(kill_at)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY_S):
            running = list(processes())
            self.most_bytes = max(self.most_bytes, *map(resident, running), 0)
            if self._kill_at and self._batches() >= self._kill_at[0]:
                self._kill_at.pop(0)
                for process in running:
                    # It may have ended by itself, and then it is not ours to count.
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                        self.kills += 1

    def _batches(self) -> int:
        return len(self._batch.findall(self._log.read_text(errors="replace")))
