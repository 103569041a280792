"""All rules, in the order in which advice is given."""

from __future__ import annotations

from keyfold.doctor.attempts import several, unreferenced
from keyfold.doctor.checkpoint import beyond, format_1, unreadable
from keyfold.doctor.growth import forever
from keyfold.doctor.partitions import too_few, too_many
from keyfold.doctor.rescaling import few_numbers, not_movable
from keyfold.doctor.retention import too_long, too_short
from keyfold.doctor.skew import skew
from keyfold.doctor.small_files import small_files
from keyfold.doctor.snapshots import too_often, too_rare

RULES = (
    unreadable,
    too_many,
    too_few,
    skew,
    forever,
    beyond,
    several,
    too_rare,
    too_often,
    too_long,
    too_short,
    small_files,
    unreferenced,
    format_1,
    not_movable,
    few_numbers,
)
