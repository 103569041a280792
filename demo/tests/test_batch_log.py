"""How far a query has come, read from the names in its checkpoint."""

from pathlib import Path

from demo.batch_log import finished, unfinished


def checkpoint(path: Path, offsets: range, commits: range) -> Path:
    for log, numbers in (("offsets", offsets), ("commits", commits)):
        folder = path / log
        folder.mkdir()
        for number in numbers:
            (folder / str(number)).touch()
            (folder / f".{number}.crc").touch()
    return path


def test_a_batch_planned_and_not_finished_is_found_by_number_not_by_text(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, offsets=range(11), commits=range(10))
    assert (finished(path), unfinished(path)) == (10, 10)


def test_between_batches_nothing_is_unfinished(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, offsets=range(10), commits=range(10))
    assert (finished(path), unfinished(path)) == (10, None)


def test_entries_already_purged_still_count(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, offsets=range(20, 31), commits=range(21, 30))
    assert (finished(path), unfinished(path)) == (30, 30)


def test_a_query_that_never_began(tmp_path: Path) -> None:
    assert (finished(tmp_path), unfinished(tmp_path)) == (0, None)
