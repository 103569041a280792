"""What advice to begin on a new checkpoint location has to say."""

from __future__ import annotations

# docs/tutorial.md, in its own words: a plan says what can be carried over.
WITHOUT_STATE = (
    "A new location begins without this state. Of a changed query, `keyfold evolve` may carry it "
    'over (docs/tutorial.md, "Change the query"): its plan says so.'
)
