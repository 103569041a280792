"""What happens to a stopped query's checkpoint or to its settings."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from incidents.query import Query
from keyfold.settings import FORMAT_KEY, PROVIDER_KEY
from kit.providers import HDFS, ROCKSDB

Damage = Callable[[Query, random.Random], str]
_STATE_FILE = re.compile(r"\d+(_[^.]+)?(\.\d+)?\.(delta|snapshot|ref|merged)$")


def _state_files(query: Query) -> list[Path]:
    found = (query.checkpoint / "state").rglob("*")
    return sorted(it for it in found if it.is_file() and _STATE_FILE.fullmatch(it.name))


def _entries(query: Query) -> list[Path]:
    logs = (query.checkpoint / it for it in ("offsets", "commits"))
    return sorted(it for log in logs for it in log.iterdir() if it.name.isdigit())


def _unlink(path: Path) -> str:
    # With it goes the checksum that Hadoop keeps beside it.
    path.unlink()
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    return f"deleted {path.parent.name}/{path.name}"


def _overwrite(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    return f"wrote {len(content)} bytes over {path.parent.name}/{path.name}"


def nothing(_: Query, __: random.Random) -> str:
    return "no damage"


def lost_file(query: Query, chance: random.Random) -> str:
    files = _state_files(query)
    return _unlink(chance.choice(files)) if files else "no state file to lose"


def lost_files(query: Query, chance: random.Random) -> str:
    files = _state_files(query)
    chosen = chance.sample(files, min(len(files), chance.randint(2, 6)))
    return ", ".join(map(_unlink, chosen))


def lost_partition(query: Query, chance: random.Random) -> str:
    folders = sorted(it for it in (query.checkpoint / "state/0").iterdir() if it.name.isdigit())
    folder = chance.choice(folders)
    shutil.rmtree(folder)
    return f"deleted the folder state/0/{folder.name}"


def lost_old_files(query: Query, chance: random.Random) -> str:
    """A rule that deletes by age."""
    files = sorted(_state_files(query), key=lambda it: it.stat().st_mtime_ns)
    oldest = files[: chance.randint(1, max(1, len(files) // 2))]
    for it in oldest:
        _unlink(it)
    return f"deleted the {len(oldest)} oldest files"


def flipped_bit(query: Query, chance: random.Random) -> str:
    if not (files := _state_files(query)):
        return "no file left in which a bit could flip"
    path = chance.choice(files)
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    _overwrite(path, bytes(content))
    return f"flipped a bit of {path.parent.name}/{path.name}"


def truncated(query: Query, chance: random.Random) -> str:
    if not (files := _state_files(query)):
        return "no file left to truncate"
    path = chance.choice(files)
    content = path.read_bytes()
    return _overwrite(path, content[: chance.choice([0, 1, chance.randrange(len(content))])])


def another_file(query: Query, chance: random.Random) -> str:
    """A restore from a copy that took the wrong file."""
    # HDFSBacked's files do not say whose they are: it goes on with the rows of the wrong one.
    files = [it for it in _state_files(query) if it.read_bytes().startswith(b"KFLD")]
    if not files:
        return "no file that says whose it is"
    one, other = chance.choices(files, k=2)
    _overwrite(one, other.read_bytes())
    return f"{one.parent.name}/{one.name} is a copy of {other.parent.name}/{other.name}"


def lost_entry(query: Query, chance: random.Random) -> str:
    return _unlink(chance.choice(_entries(query)))


def empty_entry(query: Query, chance: random.Random) -> str:
    return _overwrite(chance.choice(_entries(query)), b"")


def torn_entry(query: Query, chance: random.Random) -> str:
    path = chance.choice(_entries(query))
    content = path.read_bytes()
    return _overwrite(path, content[: chance.randrange(len(content))])


def lost_commits(query: Query, chance: random.Random) -> str:
    """The newest two, or all."""
    entries = [it for it in _entries(query) if it.parent.name == "commits"]
    entries = sorted(entries, key=lambda it: int(it.name))
    return ", ".join(map(_unlink, entries[chance.choice([-2, 0]) :]))


def lost_schema(query: Query, _: random.Random) -> str:
    return _unlink(query.checkpoint / "state/0/0/_metadata/schema")


def empty_schema(query: Query, _: random.Random) -> str:
    return _overwrite(query.checkpoint / "state/0/0/_metadata/schema", b"")


def lost_metadata_and_file(query: Query, chance: random.Random) -> str:
    return f"{lost_metadata(query, chance)}, {lost_file(query, chance)}"


def lost_metadata(query: Query, chance: random.Random) -> str:
    found = (query.checkpoint / "state/0/_metadata").rglob("*")
    files = sorted(it for it in found if it.is_file() and not it.name.endswith(".crc"))
    return _unlink(chance.choice(files)) if files else "no metadata to lose"


def lost_id(query: Query, _: random.Random) -> str:
    return _unlink(query.checkpoint / "metadata")


def torn_id(query: Query, chance: random.Random) -> str:
    path = query.checkpoint / "metadata"
    return _overwrite(path, path.read_bytes()[: chance.choice([0, 9, 20])])


def lost_plan(query: Query, chance: random.Random) -> str:
    folder = query.checkpoint / "keyfold"
    files = sorted(it for it in folder.rglob("*") if it.is_file()) if folder.is_dir() else []
    return _unlink(chance.choice(files)) if files else "no plan to lose"


def half_written(query: Query, _: random.Random) -> str:
    """A disk that was full."""
    name = ".9_x.delta.0a1b2c3d-0000-4000-8000-0123456789ab.tmp"
    (query.checkpoint / "state/0/0" / name).write_bytes(b"half of a file")
    return "a temporary file is left"


def restored_with_old_times(query: Query, chance: random.Random) -> str:
    """A copy whose files are all as old, or in another order."""
    for it in query.checkpoint.rglob("*"):
        moment = 1_700_000_000 + chance.randrange(1_000)
        os.utime(it, (moment, moment))
    return "all files have other times"


def other_format(query: Query, _: random.Random) -> str:
    other = "1" if query.uses_format_2 else "2"
    query.settings[FORMAT_KEY] = other
    return f"{FORMAT_KEY}={other}"


def other_provider(query: Query, chance: random.Random) -> str:
    query.settings[PROVIDER_KEY] = chance.choice([HDFS, ROCKSDB])
    return f"{PROVIDER_KEY}={query.settings[PROVIDER_KEY]}"


def other_partitions(query: Query, chance: random.Random) -> str:
    key = chance.choice(
        ["spark.sql.shuffle.partitions", "spark.sql.streaming.stateStore.keyfold.partitions"]
    )
    query.settings[key] = chance.choice(["1", "3", "5", "7"])
    return f"{key}={query.settings[key]}"


def invalid_setting(query: Query, chance: random.Random) -> str:
    key, value = chance.choice([("memory.maxBytes", "much"), ("no.such", "1"), ("keyGroups", "x")])
    query.settings[f"spark.sql.streaming.stateStore.keyfold.{key}"] = value
    return f"{key}={value}"


DAMAGES: tuple[Damage, ...] = (
    nothing, lost_file, lost_files, lost_partition, lost_old_files, flipped_bit, truncated,
    another_file, lost_entry, empty_entry, torn_entry, lost_commits, lost_metadata, lost_schema,
    empty_schema, lost_metadata_and_file, lost_id, torn_id, lost_plan,
    half_written, restored_with_old_times, other_format, other_provider, other_partitions,
    invalid_setting,
)  # fmt: skip
