"""Kills a streaming driver in the middle of a batch."""

import time
from collections.abc import Iterable
from pathlib import Path

from demo import batch_log
from demo.driver import Driver

ATTEMPTS = 100
PAUSE_SECONDS = 0.02


def kill_within_batch(driver: Driver, checkpoints: Iterable[Path]) -> None:
    """Kill the driver while at least one of its queries has begun a batch and not finished it.

    The driver is frozen before looking, since a batch could otherwise end between look and kill.
    """
    folders = list(checkpoints)
    for _ in range(ATTEMPTS):
        driver.freeze()
        if any(batch_log.unfinished(folder) is not None for folder in folders):
            break
        driver.thaw()
        time.sleep(PAUSE_SECONDS)
    driver.close()
