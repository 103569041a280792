"""Apache Flink's assignment of keys to operators, for pipelines that place keys themselves.

A key's group is `murmur(key.hashCode()) % max_parallelism`, its operator
`key_group * parallelism // max_parallelism`; 1 <= parallelism <= max_parallelism <= 32,768.
Keyfold's own state is placed by Spark's hash instead. The columns need a session that
`keyfold.configure` made, or `spark.sql.extensions` as it sets it.

Flink has two formulas that give each operator a range of key groups. They agree if the parallelism
divides the number of groups, and may differ otherwise: of 10 groups, 4 operators get 3, 2, 3 and 2
by `assigned_ranges`, the one by which Flink and this module place keys, and 3, 3, 2 and 2 by
`remainder_first_ranges`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from keyfold.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

LIMIT: Final = 1 << 15
"""The largest number of key groups."""

_FUNCTION: Final = "keyfold_flink_key_group"
_INT_BITS: Final = 32
_LONG_BITS: Final = 64


def key_group(key: Column | str, max_parallelism: int) -> Column:
    """The key group, an INT from 0 until `max_parallelism`, of a column of keys; null for null.

    Args:
        key: STRING, BOOLEAN or integers.
        max_parallelism: number of key groups.

    Raises:
        InvalidArgumentError: `max_parallelism` is not between 1 and 32,768.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the package works without PySpark

    check_parallelism(max_parallelism, 1)
    column = f.col(key) if isinstance(key, str) else key
    return f.call_function(_FUNCTION, column, f.lit(max_parallelism))


def operator_index(key: Column | str, max_parallelism: int, parallelism: int) -> Column:
    """The operator, an INT from 0 until `parallelism`, that owns each key of a column.

    `DataFrame.repartitionById(parallelism, operator_index(...))` moves the keys there.

    Raises:
        InvalidArgumentError: not 1 <= parallelism <= max_parallelism <= 32,768.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    check_parallelism(max_parallelism, parallelism)
    product = key_group(key, max_parallelism) * f.lit(parallelism)
    return f.call_function("div", product, f.lit(max_parallelism)).cast("int")


def partitioner(max_parallelism: int, parallelism: int) -> Callable[[str | bool | int], int]:
    """A function for `RDD.partitionBy(parallelism, ...)`: keys to operators.

    A Python int stands for a Java Integer if it fits 32 bits, else for a Long: what has the same
    value has the same hash code unless it is negative, so a pipeline of negative Longs should use
    the columns.

    Raises:
        InvalidArgumentError: not 1 <= parallelism <= max_parallelism <= 32,768.
    """
    check_parallelism(max_parallelism, parallelism)
    return lambda key: _murmur(_hash_code(key)) % max_parallelism * parallelism // max_parallelism


def assigned_ranges(max_parallelism: int, parallelism: int) -> list[range]:
    """The key groups of each operator: those that `operator_index` gives to it.

    It is Flink's `computeKeyGroupRangeForOperatorIndex`.

    Raises:
        InvalidArgumentError: not 1 <= parallelism <= max_parallelism <= 32,768.
    """
    check_parallelism(max_parallelism, parallelism)
    # The first group g of which g * parallelism // max_parallelism is the operator.
    starts = [-(-index * max_parallelism // parallelism) for index in range(parallelism + 1)]
    return [range(start, end) for start, end in pairwise(starts)]


def remainder_first_ranges(groups: range, parts: int) -> list[range]:
    """A range of key groups in `parts` ranges of one size, the first ones longer by one if need be.

    It is Flink's `getSplitRange`, for each of the parts. `operator_index` does not go by it.

    Args:
        groups: adjacent key groups, such as `range(128)`.
        parts: from 1 to the number of groups.

    Raises:
        InvalidArgumentError: the groups are not adjacent, or `parts` is not in its bounds.
    """
    if groups.step != 1:
        raise InvalidArgumentError(f"Invalid groups: {groups}, must have a step of 1.")
    if not 1 <= parts <= len(groups):
        raise InvalidArgumentError(
            f"Invalid parts: {parts}, must be between 1 and the number of groups, {len(groups)}."
        )
    size, longer = divmod(len(groups), parts)
    starts = [groups.start + part * size + min(part, longer) for part in range(parts + 1)]
    return [range(start, end) for start, end in pairwise(starts)]


def moved_groups(max_parallelism: int, before: int, after: int) -> dict[int, tuple[int, int]]:
    """The key groups that change their operator with the parallelism: (old, new) operator by group.

    All others stay where they are.

    Raises:
        InvalidArgumentError: not 1 <= before, after <= max_parallelism <= 32,768.
    """
    check_parallelism(max_parallelism, before)
    check_parallelism(max_parallelism, after)
    owners = {
        group: (group * before // max_parallelism, group * after // max_parallelism)
        for group in range(max_parallelism)
    }
    return {group: (old, new) for group, (old, new) in owners.items() if old != new}


def check_parallelism(max_parallelism: int, parallelism: int) -> None:
    """Raises InvalidArgumentError unless 1 <= parallelism <= max_parallelism <= 32,768."""
    for name, value in (("max_parallelism", max_parallelism), ("parallelism", parallelism)):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise InvalidArgumentError(f"Invalid {name}: {value!r}, must be a whole number.")
    if not 1 <= max_parallelism <= LIMIT:
        raise InvalidArgumentError(
            f"Invalid max_parallelism: {max_parallelism}, must be between 1 and {LIMIT}."
        )
    if not 1 <= parallelism <= max_parallelism:
        raise InvalidArgumentError(
            f"Invalid parallelism: {parallelism}, must be between 1 and the max parallelism, "
            f"{max_parallelism}."
        )


def _hash_code(key: str | bool | int) -> int:  # noqa: FBT001 - a key, not a switch
    """Java's `hashCode` of a key, as an unsigned 32-bit number."""
    if isinstance(key, bool):
        return 1231 if key else 1237
    if isinstance(key, int):
        if -(1 << _INT_BITS - 1) <= key < 1 << _INT_BITS - 1:
            return _unsigned(key)
        if -(1 << _LONG_BITS - 1) <= key < 1 << _LONG_BITS - 1:
            return _unsigned(key ^ (key >> _INT_BITS))
    elif isinstance(key, str):
        code = 0
        units = key.encode("utf-16-be", "surrogatepass")
        for high, low in zip(units[::2], units[1::2], strict=True):
            code = _unsigned(code * 31 + (high << 8 | low))
        return code
    raise InvalidArgumentError(f"Invalid key {key!r}: must be a str, bool, or int of 64 bits.")


def _murmur(code: int) -> int:
    """MurmurHash3 (x86, 32 bit) of one block with seed 0, without its sign."""
    h = _unsigned(_rotated(_unsigned(code * 0xCC9E2D51), 15) * 0x1B873593)
    h = _unsigned(_rotated(h, 13) * 5 + 0xE6546B64) ^ 4
    h = _unsigned((h ^ h >> 16) * 0x85EBCA6B)
    h = _unsigned((h ^ h >> 13) * 0xC2B2AE35)
    h ^= h >> 16
    sign = 1 << _INT_BITS - 1
    return 0 if h == sign else h if h < sign else 2 * sign - h


def _rotated(h: int, bits: int) -> int:
    return _unsigned(h << bits) | h >> (_INT_BITS - bits)


def _unsigned(number: int) -> int:
    return number & 0xFFFFFFFF
