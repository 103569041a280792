"""What advice to begin on a new checkpoint location has to say."""

from __future__ import annotations

_BEGINS = "A new location begins without this state"

# An evolved checkpoint has the settings of the one before.
FOR_PARTITIONS = f"{_BEGINS}: `keyfold evolve` keeps the number of partitions."
# docs/tutorial.md, in its own words: a plan says what can be carried over.
WITHOUT_STATE = (
    f'{_BEGINS}. `keyfold evolve` may carry it over (docs/tutorial.md, "Change the query"): its '
    "plan says so."
)
