"""Nexmark's events have the proportions of its specification, and depend on the seed alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from bench.nexmark.generator import (
    ACTIVE,
    AUCTIONS,
    CYCLE,
    FIRST_ID,
    HOT,
    IN_FLIGHT,
    LEAD,
    Generator,
)
from bench.nexmark.words import HOT_CHANNELS

pytestmark = pytest.mark.spark
GENERATOR = Generator(seed=1, rate=1000)
EVENTS = 10_000


@pytest.fixture(scope="module")
def numbers(spark: SparkSession) -> DataFrame:
    return spark.range(EVENTS).withColumnRenamed("id", "n")


@pytest.fixture(scope="module")
def bids(numbers: DataFrame) -> list[Row]:
    return GENERATOR.bids(numbers).collect()


@pytest.fixture(scope="module")
def auctions(numbers: DataFrame) -> list[Row]:
    return GENERATOR.auctions(numbers).collect()


@pytest.fixture(scope="module")
def persons(numbers: DataFrame) -> list[Row]:
    return GENERATOR.persons(numbers).collect()


def near(count: int, of: int) -> object:
    return pytest.approx(count / of, abs=0.02)


def test_of_50_events_1_is_a_person_3_are_auctions_and_46_bids(
    bids: list[Row], auctions: list[Row], persons: list[Row]
) -> None:
    cycles = EVENTS // CYCLE
    assert (len(persons), len(auctions), len(bids)) == (cycles, 3 * cycles, 46 * cycles)
    times = sorted(it.dateTime for rows in (bids, auctions, persons) for it in rows)
    assert len(set(times)) == EVENTS
    assert times[-1] - times[0] == timedelta(milliseconds=EVENTS - 1)


def test_ids_of_persons_and_auctions_come_one_after_the_other(
    auctions: list[Row], persons: list[Row]
) -> None:
    for rows in (auctions, persons):
        assert [it.id for it in rows] == list(range(FIRST_ID, FIRST_ID + len(rows)))


def test_an_event_depends_on_its_number_and_the_seed_alone(
    spark: SparkSession, bids: list[Row]
) -> None:
    some = spark.range(7000, 7400, numPartitions=3).withColumnRenamed("id", "n")
    again = GENERATOR.bids(some).collect()
    assert len(again) == 8 * 46
    assert set(again) <= set(bids)
    assert not set(replace(GENERATOR, seed=2).bids(some).collect()) & set(bids)


def test_half_the_bids_are_for_the_hot_auction_and_the_others_for_recent_ones(
    bids: list[Row], persons: list[Row]
) -> None:
    hot = 0
    for bid, last in zip(bids, lasts(bids, persons), strict=True):
        newest = last * AUCTIONS + AUCTIONS - 1
        auction = bid.auction - FIRST_ID
        hot += auction == newest // HOT * HOT
        assert newest // HOT * HOT == auction or newest - IN_FLIGHT <= auction <= newest + LEAD
    # One in a hundred or so of the others is the hot one too.
    assert near(hot, len(bids)) == 0.5


def test_three_in_four_bids_are_of_the_hot_bidder_and_auctions_of_the_hot_seller(
    bids: list[Row], auctions: list[Row], persons: list[Row]
) -> None:
    for rows, name, offset in ((bids, "bidder", 1), (auctions, "seller", 0)):
        hot = 0
        for row, last in zip(rows, lasts(rows, persons), strict=True):
            person = row[name] - FIRST_ID
            hot += person == last // HOT * HOT + offset
            assert last // HOT * HOT <= person or last - ACTIVE < person
            assert 0 <= person <= last + LEAD
        assert hot / len(rows) == pytest.approx(0.75, abs=0.04)


def lasts(rows: list[Row], persons: list[Row]) -> list[int]:
    """The newest person when each row came, counted from 0."""
    begin = persons[0].dateTime
    return [(it.dateTime - begin) // timedelta(milliseconds=CYCLE) for it in rows]


def test_prices_are_log_uniform(bids: list[Row]) -> None:
    powers = Counter(len(str(it.price)) for it in bids)
    assert set(powers) <= set(range(3, 10))
    for digits in range(3, 9):
        assert near(powers[digits], len(bids)) == 1 / 6


def test_auctions_live_as_long_as_the_generator_says_at_most(auctions: list[Row]) -> None:
    lives = [(it.expires - it.dateTime) // timedelta(microseconds=1) for it in auctions]
    assert min(lives) >= 1000
    assert 0.95 * GENERATOR.longest_us < max(lives) <= GENERATOR.longest_us
    assert all(it.reserve > it.initialBid for it in auctions)
    assert {it.category for it in auctions} == set(range(10, 15))


def test_half_the_channels_are_hot_and_most_others_have_an_id(bids: list[Row]) -> None:
    others = [it for it in bids if it.channel not in HOT_CHANNELS]
    assert near(len(others), len(bids)) == 0.5
    assert near(sum("&channel_id=" in it.url for it in others), len(others)) == 0.9
    assert len({(it.channel, it.url) for it in bids}) == len({it.channel for it in bids})
    folders = bids[0].url.split("/")
    assert folders[:3] == ["https:", "", "www.nexmark.com"]
    assert len(folders) == 7
