"""What a line of Spark has, for cases that run on every line."""

import os

from kit.installation import HERE

# An application that goes on with checkpoints of another line has that line's cases.
BEGUN_ON_KEY = "KEYFOLD_BEGUN_ON"
BEGUN_ON = os.environ.get(BEGUN_ON_KEY, HERE.line)

# `make upgrades` runs on each line what else runs on one: Delta, Iceberg and pipelines.
EVERY_LINE = "KEYFOLD_EVERY_LINE" in os.environ

# The newest state format that a new join may have. 4.3 keeps those after 2 for its own RocksDB.
NEWEST_JOIN = {"4.0": 2, "4.1": 3, "4.2": 4, "4.3": 2}[BEGUN_ON]
# Whether PySpark has transformWithState with rows, beside the one with pandas.
HAS_ROWS_PROCESSOR = BEGUN_ON != "4.0"
# Whether operators without keys, which have one partition, run under checkpoint format 2.
ONE_PARTITION_HAS_IDS = BEGUN_ON != "4.0"
# Half of the lines rescale between two batches, the others before a batch that was begun.
RESCALES_OPEN_BATCHES = HERE.line == BEGUN_ON and HERE.line in {"4.0", "4.2"}
