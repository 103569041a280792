"""Requests on the page: none on a local disk, and else all of them, by query, kind and place."""

from collections import Counter

import pytest

from demo.record import LOOKING, RESCALING, STREAMING, Record, Rescaled
from demo.requests import Request, query_and_part
from demo.summary import page


def record() -> Record:
    """Of two queries with 4 batches, of which a rescale made one, and a third that was left out."""
    found = Record("keyfold", finished={"flights": 4, "delays": 4, "chains": 0})
    found.rescaled = [Rescaled(it, 4, 6, 1) for it in ("flights", "delays")]
    found.requests[STREAMING] = Counter(
        {
            "LIST flights/sources": 3,
            "PUT flights/state": 1200,
            "PUT delays/state": 3,
            "GET delays/state": 3,
            "DELETE MANY /other": 1,
            "PUT delays/commits": 3,
        }
    )
    found.requests[RESCALING] = Counter({"PUT flights/state": 6})
    found.requests[LOOKING] = Counter({"GET flights/state": 2, "START UPLOAD /other": 1})
    return found


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("demo/delays/state/0/1/2.delta", "delays/state"),
        ("demo/delays/offsets", "delays/offsets"),
        ("demo/delays/sources/0/7", "delays/sources"),
        ("demo/delays/metadata", "delays/other"),
        ("demo/delays/", "delays/other"),
        ("demo/", "/other"),
        ("", "/other"),
    ],
)
def test_an_object_is_of_a_query_and_a_part_of_its_checkpoint(key: str, place: str) -> None:
    assert query_and_part(key) == place


def test_a_kind_of_two_words_is_told_from_the_place() -> None:
    assert Request.named("DELETE MANY /other") == Request("DELETE MANY", "", "other")
    assert Request.named("PUT delays/state") == Request("PUT", "delays", "state")


def test_a_run_on_a_local_disk_tells_of_no_requests() -> None:
    assert "S3" not in page(Record("keyfold"))


def test_requests_are_divided_by_the_batches_that_rescales_have_not_made() -> None:
    lines = page(record()).splitlines()
    parts = "state | offsets | commits | sources | other"
    assert f"| query | batches | state PUT | {parts} | all |" in lines
    assert "| flights | 3 | 400.0 | 400.0 | 0.0 | 0.0 | 1.0 | 0.0 | 401.0 |" in lines
    assert "| delays | 3 | 1.0 | 2.0 | 0.0 | 1.0 | 0.0 | 0.0 | 3.0 |" in lines
    assert not [it for it in lines if it.startswith("| chains |")]


def test_every_request_is_in_the_table_of_kinds_and_in_its_sum() -> None:
    text = page(record())
    table = text.split("All, by kind:\n\n")[1].split("\n\n")[0].splitlines()
    assert table == [
        "| for | PUT | LIST | GET | DELETE MANY | START UPLOAD | all |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| stream: state | 1,203 | 0 | 3 | 0 | 0 | 1,206 |",
        "| stream: commits | 3 | 0 | 0 | 0 | 0 | 3 |",
        "| stream: sources | 0 | 3 | 0 | 0 | 0 | 3 |",
        "| stream: other | 0 | 0 | 0 | 1 | 0 | 1 |",
        "| rescale | 6 | 0 | 0 | 0 | 0 | 6 |",
        "| look inside | 0 | 0 | 2 | 0 | 1 | 3 |",
        "| all | 1,212 | 3 | 5 | 1 | 1 | 1,222 |",
    ]
    assert "- The checkpoints were on an S3 server, which got 1,222 requests;" in text


def test_a_server_that_was_slow_on_purpose_is_said_to_be() -> None:
    slow = record()
    slow.delay_ms = 25.0
    assert "got 1,222 requests, each held back 25 ms;" in page(slow)
