"""One illness: when a checkpoint has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from keyfold.doctor.advice import Advice
from keyfold.doctor.exam import Exam


@dataclass(frozen=True)
class Rule:
    """When advice is given.

    Attributes:
        name: that of its advice.
        given: when it is given, with all limits. docs/doctor.md has it word for word.
        reason: why the limits are what they are, in the same words there.
        judge: the advice for a checkpoint; nothing if it does not have the illness.
    """

    name: str
    given: str
    reason: str
    judge: Callable[[Exam], Iterable[Advice]]
