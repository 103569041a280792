"""Nexmark's events, as SQL expressions of an event's number: no worker of Python runs.

After the generators of Apache Beam and of nexmark/nexmark, with their proportions and constants:
of 50 events 1 is a person, 3 are auctions and 46 are bids. An event is a function of its number and
the seed alone. Event time is in microseconds, so that no two events have the same.
"""

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from bench.nexmark.words import CITIES, FIRST_NAMES, HOT_CHANNELS, LAST_NAMES, STATES

CYCLE: Final = 50
PERSONS, AUCTIONS, BIDS = 1, 3, 46
FIRST_ID: Final = 1000
FIRST_CATEGORY: Final = 10
CATEGORIES: Final = 5
# Of so many in a row the first auction is hot, the first person sells and the second one bids.
HOT: Final = 100
# One in so many is not of a hot one.
AUCTION_RATIO, BIDDER_RATIO, SELLER_RATIO, CHANNEL_RATIO = 2, 4, 4, 2
IN_FLIGHT: Final = 100
ACTIVE: Final = 1000
# Ids that are not there yet.
LEAD: Final = 10
CHANNELS: Final = 10_000
DIGITS_OF_HASH: Final = 128
# 2015-07-15, as in Beam.
BASE_US: Final = 1_436_918_400_000_000
_SITE: Final = "https://www.nexmark.com"


@dataclass(frozen=True)
class Generator:
    """Events of a seed, `rate` of them a second of event time."""

    seed: int
    rate: int

    @property
    def horizon_us(self) -> int:
        """Half the longest life of an auction: until as many others as are in flight have begun."""
        return self.time_us(IN_FLIGHT * CYCLE // AUCTIONS)

    @property
    def longest_us(self) -> int:
        """No auction lives longer."""
        return 2 * self.horizon_us + 1000

    def time_us(self, events: int) -> int:
        """How long so many events take."""
        return events * 1_000_000 // self.rate

    def persons(self, numbers: DataFrame) -> DataFrame:
        """Of those events of `numbers` (a column `n`) that are persons, one row each."""
        return numbers.where(f"n % {CYCLE} < {PERSONS}").selectExpr(
            f"{FIRST_ID} + n div {CYCLE} AS id",
            f"concat({self._of(FIRST_NAMES, 1)}, ' ', {self._of(LAST_NAMES, 2)}) AS name",
            f"concat({self._text(3, 3, 4)}, '@', {self._text(4, 3, 2)}, '.com') AS emailAddress",
            f"concat_ws(' ', {', '.join(self._digits(it) for it in range(5, 9))}) AS creditCard",
            f"{self._of(CITIES, 9)} AS city",
            f"{self._of(STATES, 10)} AS state",
            f"{self._time} AS dateTime",
            f"{self._text(11, 110, 54)} AS extra",
        )

    def auctions(self, numbers: DataFrame) -> DataFrame:
        """Of those events of `numbers` that are auctions, one row each."""
        offset = f"n % {CYCLE}"
        chosen = numbers.where(f"{offset} >= {PERSONS} AND {offset} < {PERSONS + AUCTIONS}")
        hot = f"(n div {CYCLE}) div {HOT} * {HOT}"
        seller = f"if({self._draw(21, SELLER_RATIO)} > 0, {hot}, {self._active(22)})"
        expires_us = f"{self._time_us} + 1000 + {self._draw(23, 2 * self.horizon_us)}"
        return chosen.selectExpr(
            f"{FIRST_ID} + (n div {CYCLE}) * {AUCTIONS} + {offset} - {PERSONS} AS id",
            f"{self._text(24, 3, 17)} AS itemName",
            f"{self._text(25, 3, 97)} AS description",
            f"{self._price(26)} AS initialBid",
            f"{self._price(26)} + {self._price(27)} AS reserve",
            f"{self._time} AS dateTime",
            f"timestamp_micros({expires_us}) AS expires",
            f"{FIRST_ID} + {seller} AS seller",
            f"{FIRST_CATEGORY} + {self._draw(28, CATEGORIES)} AS category",
            f"{self._text(29, 312, 156)} AS extra",
        )

    def bids(self, numbers: DataFrame) -> DataFrame:
        """Of those events of `numbers` that are bids, one row each."""
        last = f"((n div {CYCLE}) * {AUCTIONS} + {AUCTIONS - 1})"
        oldest = f"greatest({last} - {IN_FLIGHT}, 0L)"
        recent = f"{oldest} + {self._draw(42, f'{last} - {oldest} + 1 + {LEAD}')}"
        auction = f"if({self._draw(41, AUCTION_RATIO)} > 0, {last} div {HOT} * {HOT}, {recent})"
        hot = f"(n div {CYCLE}) div {HOT} * {HOT} + 1"
        bidder = f"if({self._draw(43, BIDDER_RATIO)} > 0, {hot}, {self._active(44)})"
        # The hot channels are below 0.
        hot_channel = f"-1 - {self._draw(47, len(HOT_CHANNELS))}"
        channel = (
            f"if({self._draw(46, CHANNEL_RATIO)} > 0, {hot_channel}, {self._draw(48, CHANNELS)})"
        )
        numbered = numbers.where(f"n % {CYCLE} >= {PERSONS + AUCTIONS}").selectExpr(
            "n", f"{channel} AS c"
        )
        names = ", ".join(f"'{it}'" for it in HOT_CHANNELS)
        folders = ", '/', ".join(self._text(it, 3, 2, "c") for it in (51, 52, 53))
        has_id = f"c >= 0 AND {self._draw(54, 10, 'c')} > 0"
        id_ = f"if({has_id}, concat('&channel_id=', {self._draw(55, 2**31, 'c')}), '')"
        return numbered.selectExpr(
            f"{FIRST_ID} + {auction} AS auction",
            f"{FIRST_ID} + {bidder} AS bidder",
            f"{self._price(45)} AS price",
            f"if(c < 0, element_at(array({names}), cast(-c AS int)), concat('channel-', c))"
            " AS channel",
            f"concat('{_SITE}/', {folders}, '/item.htm?query=1', {id_}) AS url",
            f"{self._time} AS dateTime",
            f"{self._text(49, 54, 28)} AS extra",
        )

    @property
    def _time_us(self) -> str:
        return f"({BASE_US}L + n * 1000000L div {self.rate})"

    @property
    def _time(self) -> str:
        return f"timestamp_micros({self._time_us})"

    def _draw(self, salt: int, below: int | str, of: str = "n") -> str:
        """A whole number from 0 on, below a bound; each salt gives another one."""
        bound = f"{below}L" if isinstance(below, int) else below
        return f"pmod(xxhash64({of}, {salt}, {self.seed}L), {bound})"

    def _price(self, salt: int) -> str:
        """Log-uniform: 1 to 1,000,000, in hundredths."""
        chance = f"shiftrightunsigned(xxhash64(n, {salt}, {self.seed}L), 11) / {2**53}.0D"
        return f"cast(round(pow(10.0D, {chance} * 6) * 100) AS bigint)"

    def _active(self, salt: int) -> str:
        """A recent person, or one that comes soon; counted from 0."""
        count = f"(n div {CYCLE} + 1)"
        active = f"least({count}, {ACTIVE}L)"
        return f"{count} - {active} + {self._draw(salt, f'{active} + {LEAD}')}"

    def _of(self, words: tuple[str, ...], salt: int) -> str:
        listed = ", ".join(f"'{it}'" for it in words)
        return f"element_at(array({listed}), 1 + cast({self._draw(salt, len(words))} AS int))"

    def _digits(self, salt: int) -> str:
        return f"lpad(cast({self._draw(salt, 10_000)} AS string), 4, '0')"

    def _text(self, salt: int, shortest: int, lengths: int, of: str = "n") -> str:
        """Digits of a hash, `shortest` of them or more, as one of so many lengths."""
        longest = shortest + lengths - 1
        if longest < len("0123456789abcdef"):
            digits = f"lower(hex(xxhash64({of}, {salt}, {self.seed}L)))"
        else:
            parts = -(-longest // DIGITS_OF_HASH)
            hashes = (f"sha2(concat({of}, '-{salt}-{it}-{self.seed}'), 512)" for it in range(parts))
            digits = f"concat({', '.join(hashes)})"
        length = self._draw(salt + 100, lengths, of)
        return f"substring({digits}, 1, cast({shortest} + {length} AS int))"
