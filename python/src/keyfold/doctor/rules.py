"""All rules, in the order in which advice is given."""

from __future__ import annotations

from keyfold.doctor.actions import SEVERAL
from keyfold.doctor.checkpoint_format import FORMAT
from keyfold.doctor.damage import UNREADABLE
from keyfold.doctor.growth import FOREVER
from keyfold.doctor.memory import BEYOND
from keyfold.doctor.partitions import TOO_FEW, TOO_MANY
from keyfold.doctor.rescaling import FEW_NUMBERS, NOT_MOVABLE
from keyfold.doctor.retention import TOO_LONG, TOO_SHORT
from keyfold.doctor.skew import SKEW
from keyfold.doctor.small_files import SMALL
from keyfold.doctor.snapshots import TOO_OFTEN, TOO_RARE
from keyfold.doctor.unreferenced import UNREFERENCED

RULES = (
    UNREADABLE,
    TOO_MANY,
    TOO_FEW,
    SKEW,
    FOREVER,
    BEYOND,
    SEVERAL,
    TOO_RARE,
    TOO_OFTEN,
    TOO_LONG,
    TOO_SHORT,
    SMALL,
    UNREFERENCED,
    FORMAT,
    NOT_MOVABLE,
    FEW_NUMBERS,
)
