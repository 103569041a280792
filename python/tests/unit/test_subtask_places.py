"""The key of a subtask, against the hash that places rows."""

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.row_hash import row_hash
from keyfold.schema.data_type import Atomic
from keyfold.subtasks.place import place_of


def test_the_hash_of_a_subtask_and_its_place_is_the_subtask() -> None:
    subtasks = [*range(300), 10_079, 32_767]
    columns = [pa.array(subtasks, pa.int32()), pa.array(map(place_of, subtasks), pa.int32())]
    integer = Atomic("integer")
    found = row_hash([(it, integer) for it in columns], len(subtasks))
    assert np.array_equal(found, subtasks)
