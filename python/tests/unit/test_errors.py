from __future__ import annotations

import pickle

import pytest

from keyfold import errors
from keyfold.errors import KeyfoldError

CLASSES = [
    it
    for it in vars(errors).values()
    if isinstance(it, type) and issubclass(it, KeyfoldError) and it is not KeyfoldError
]


def test_every_condition_has_its_own_name() -> None:
    assert len({it.condition for it in CLASSES} | {KeyfoldError.condition}) == len(CLASSES) + 1
    assert all(it.condition.startswith("KEYFOLD_") for it in CLASSES)


@pytest.mark.parametrize("kind", CLASSES)
def test_text_begins_with_the_condition_and_survives_a_process(kind: type[KeyfoldError]) -> None:
    again = pickle.loads(pickle.dumps(kind("What happened.")))  # noqa: S301 - made right here
    assert type(again) is kind
    assert str(again) == f"[{kind.condition}] What happened."
