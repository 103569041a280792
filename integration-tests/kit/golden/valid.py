"""Every valid golden file, written by hand: what it holds is what a reader must return.

Keys and values are hex. Most are `UnsafeRow`s of one BIGINT column, and the hashes are Spark's own
of that column, so partition, key group and hash agree as they would in a real checkpoint.
"""

from __future__ import annotations

from kit.golden.encoder import Spec, fingerprint
from kit.golden.manifest import PLACES, PLAN
from kit.golden.spec import append, bigint, block, family, group, link, put, remove, spec, string

# Partition 3 of 4 owns groups 3, 7, 11, 15, 19, 23; in file order 3, 11, 19, 7, 15, 23.
DELTA = spec(
    "delta/7.delta",
    "delta",
    {"version": 7},
    lineage=[link(6, "delta"), link(5, "delta"), link(4, "snapshot")],
    families=[family(0, "default", 5, 160)],
    blocks=[
        block(
            [
                put(519220707, bigint(3), bigint(100)),
                remove(1293116811, bigint(7)),
                put(1788430595, bigint(45), bigint(1)),
                remove(1951874743, bigint(13)),
                put(-1490791369, bigint(39), bigint(7)),
                put(1764476063, bigint(41), bigint(-1)),
            ]
        )
    ],
    groups=[
        group(0, 3, 0, 0, 2, 48),
        group(0, 11, 0, 2, 1, 32),
        group(0, 7, 0, 3, 1, 16),
        group(0, 23, 0, 4, 2, 64),
    ],
)

# Keys 28 and 2 hash to partition 0: Spark put them here. The rows of the other family are placed by
# their hash, and a rescale has moved them.
STRAYS = spec(
    "strays/2.delta",
    "delta",
    {"version": 2},
    lineage=[link(1, "delta")],
    families=[
        family(0, "default", 2, 64, strays=True),
        family(1, "placed", 1, 32, rescaled=True),
    ],
    blocks=[
        block(
            [
                put(519220707, bigint(3), bigint(100)),
                put(-964985136, bigint(28), bigint(2)),
                remove(-797927272, bigint(2)),
            ]
        ),
        block([put(519220707, bigint(3), bigint(7))], number=1),
    ],
    groups=[
        group(0, 3, 0, 0, 1, 32),
        group(0, 0, 0, 1, 1, 32),
        group(0, 8, 0, 2, 1, 16),
        group(1, 3, 1, 0, 1, 32),
    ],
)

EMPTY_DELTA = spec(
    "empty-delta/8.delta",
    "delta",
    {"version": 8},
    lineage=[link(7, "delta"), link(6, "delta"), link(5, "delta"), link(4, "snapshot")],
    families=[family(0, "default", 5, 160)],
)

# Nothing before it, one partition, one key group.
FIRST_DELTA = spec(
    "first-delta/1.delta",
    "delta",
    {"version": 1, "partition": 0, "partitions": 1, "keyGroups": 1},
    families=[family(0, "default", 1, 32)],
    blocks=[block([put(-1712319331, bigint(1), bigint(1))])],
    groups=[group(0, 0, 0, 0, 1, 32)],
)

# Partition 1 of 2 owns groups 1, 3, 5, 7, 9, 11; in file order 1, 5, 9, 3, 7, 11.
# Group 9 begins in block 1 and ends in block 2.
SNAPSHOT_ZSTD = spec(
    "snapshot-zstd/7.snapshot",
    "snapshot",
    {"version": 7, "partition": 1, "partitions": 2, "keyGroups": 12},
    footerCodec="zstd",
    lineage=[link(6, "delta"), link(5, "delta"), link(4, "snapshot")],
    families=[family(0, "default", 8, 8 * (16 + 56))],
    blocks=[
        block(
            [
                put(-2017638575, bigint(32), string("a" * 40)),
                put(1192545385, bigint(40), string("b" * 40)),
                put(-1712319331, bigint(1), string("c" * 40)),
            ],
            "zstd",
        ),
        block(
            [
                put(-1767354555, bigint(6), string("d" * 40)),
                put(-17979279, bigint(11), string("e" * 40)),
            ],
            "zstd",
        ),
        block(
            [
                put(-1766952291, bigint(37), string("f" * 40)),
                put(519220707, bigint(3), string("g" * 40)),
            ],
            "zstd",
        ),
        block([put(-1490791369, bigint(39), string("h" * 40))], "zstd"),
    ],
    groups=[
        group(0, 1, 0, 0, 2, 144),
        group(0, 5, 0, 2, 1, 72),
        group(0, 9, 1, 0, 3, 216),
        group(0, 3, 2, 1, 1, 72),
        group(0, 11, 3, 0, 1, 72),
    ],
)

# Partition 0 of 2; in file order 0, 4, 8, 2, 6, 10. A named store; codecs differ between blocks.
SNAPSHOT_LZ4 = spec(
    "snapshot-lz4/9.snapshot",
    "snapshot",
    {
        "version": 9,
        "operator": 1,
        "partition": 0,
        "partitions": 2,
        "keyGroups": 12,
        "store": "left-keyToNumValues",
    },
    footerCodec="lz4",
    lineage=[link(8, "delta"), link(7, "snapshot")],
    families=[family(0, "default", 5, 160)],
    blocks=[
        block(
            [
                put(-964985136, bigint(28), bigint(2)),
                put(435522712, bigint(12), bigint(3)),
                put(-733995596, bigint(19), bigint(2)),
                put(-797927272, bigint(2), bigint(1)),
            ],
            "lz4",
        ),
        block([put(1546268258, bigint(17), bigint(9))]),
    ],
    groups=[
        group(0, 0, 0, 0, 1, 32),
        group(0, 4, 0, 1, 2, 64),
        group(0, 8, 0, 3, 1, 32),
        group(0, 2, 1, 0, 1, 32),
    ],
)

ROW_CHECKSUMS = spec(
    "row-checksums/3.delta",
    "delta",
    {"version": 3},
    rowChecksums=True,
    lineage=[link(2, "delta"), link(1, "delta")],
    families=[family(0, "default", 1, 32)],
    blocks=[
        block(
            [
                put(519220707, bigint(3), bigint(100), checksum=0x77B02B0F),
                remove(1293116811, bigint(7), checksum=0xB8299FEE),
            ]
        )
    ],
    groups=[group(0, 3, 0, 0, 2, 48)],
)

# Partition 0 of 2, which alone holds the `constant` family: hash 0, an empty key.
MULTI_VALUE = spec(
    "multi-value/5.delta",
    "delta",
    {"version": 5, "operator": 2, "partition": 0, "partitions": 2, "keyGroups": 12},
    lineage=[link(4, "delta"), link(3, "delta"), link(2, "delta"), link(1, "delta")],
    families=[
        family(0, "default", 0, 0),
        family(1, "zähler", 4, 190, multiValue=True, values=9, partitionKey="first:1"),
        family(
            2,
            "$ttl_zähler",
            3,
            96,
            internal=True,
            ordered=True,
            keyEncoding="range:0",
            partitionKey="path:1.0",
        ),
        family(3, "total", 1, 16, partitionKey="constant", keySchemaId=1, valueSchemaId=2),
        family(
            4, "by user", 7, 700, keyEncoding="prefix:1", rowEncoding="avro", partitionKey="none"
        ),
    ],
    blocks=[
        block(
            [
                put(435522712, bigint(12), bigint(1), "", bigint(3)),
                append(-733995596, bigint(19), bigint(4), "00ff"),
                remove(495414772, bigint(23)),
                append(-797927272, bigint(2), bigint(5)),
            ],
            number=1,
        ),
        block([put(0, "", bigint(60))], number=3),
    ],
    groups=[
        group(1, 4, 0, 0, 3, 98),
        group(1, 8, 0, 3, 1, 32),
        group(3, 0, 1, 0, 1, 16),
    ],
)

# A row checksum covers all values of its entry, and of an APPEND those that it adds.
VALUE_CHECKSUMS = spec(
    "multi-value-checksums/5.delta",
    "delta",
    {"version": 5, "partition": 0, "partitions": 2, "keyGroups": 12},
    rowChecksums=True,
    lineage=[link(4, "delta"), link(3, "snapshot")],
    families=[family(0, "list", 3, 130, multiValue=True, values=7)],
    blocks=[
        block(
            [
                put(435522712, bigint(12), bigint(1), "", bigint(3), checksum=0xC2DA2F9F),
                append(-733995596, bigint(19), bigint(4), "00ff", checksum=0xF0E9BE62),
                remove(495414772, bigint(23), checksum=0x3C5F965A),
            ]
        )
    ],
    groups=[group(0, 4, 0, 0, 3, 98)],
)

# The list of 12 takes three entries, the last of them in the next block.
CONTINUED = spec(
    "continued/5.snapshot",
    "snapshot",
    {"version": 5, "partition": 0, "partitions": 2, "keyGroups": 12},
    lineage=[link(4, "delta"), link(3, "snapshot")],
    families=[family(0, "list", 3, 130, multiValue=True, values=7)],
    blocks=[
        block(
            [
                put(-733995596, bigint(19), bigint(4)),
                put(435522712, bigint(12), bigint(1), ""),
                append(435522712, bigint(12), bigint(2)),
            ]
        ),
        block(
            [
                append(435522712, bigint(12), "00ff", bigint(3)),
                put(-797927272, bigint(2), bigint(5)),
            ]
        ),
    ],
    groups=[group(0, 4, 0, 0, 4, 130), group(0, 8, 1, 1, 1, 32)],
    continued=2,
)

# Of a delta, an APPEND may be continued as well.
CONTINUED_DELTA = spec(
    "continued-delta/6.delta",
    "delta",
    {"version": 6, "partition": 0, "partitions": 2, "keyGroups": 12},
    lineage=[link(5, "snapshot")],
    families=[family(0, "list", 2, 112, multiValue=True, values=5)],
    blocks=[
        block(
            [
                append(-733995596, bigint(19), bigint(6)),
                append(-733995596, bigint(19), bigint(7)),
                remove(435522712, bigint(12)),
                put(-797927272, bigint(2), bigint(8)),
            ]
        ),
        block([append(-797927272, bigint(2), bigint(9))]),
    ],
    groups=[group(0, 4, 0, 0, 3, 80), group(0, 8, 0, 3, 2, 64)],
    continued=2,
)

WITH_IDS = spec(
    "ids/12_8d1f0c4e-6d0b-4c7e-9a53-0d5c1f2ab712.delta",
    "delta",
    {"version": 12, "id": "8d1f0c4e-6d0b-4c7e-9a53-0d5c1f2ab712"},
    lineage=[
        link(11, "delta", "0b9c2f1a-3f5e-4b1d-8c55-77a1e90cfe11"),
        link(10, "snapshot", "f2f1d7a6-90aa-47f2-b1c3-3c1e52d80a10"),
    ],
    families=[family(0, "default", 2, 64)],
    blocks=[block([put(-396892953, bigint(58), bigint(5))])],
    groups=[group(0, 15, 0, 0, 1, 32)],
)

# N is not known; `list` goes and comes back as a new, empty-before family.
DROPPED = spec(
    "dropped-families/6.delta",
    "delta",
    {"version": 6, "partitions": 0},
    lineage=[link(5, "snapshot")],
    dropped=["old", "list"],
    families=[
        family(0, "default", 5, 160),
        family(1, "list", 1, 48, multiValue=True, values=2),
    ],
    blocks=[block([put(1951874743, bigint(13), bigint(1), bigint(2))], number=1)],
    groups=[group(1, 7, 0, 0, 1, 48)],
)

# Partition 5 of 6, by the parts that the golden manifest has for its class.
REFERENCE = spec(
    "reference/31_77a1e90c.ref",
    "reference",
    {"version": 31, "id": "77a1e90c", "partition": 5, "partitions": 6, "keyGroups": 24},
    families=[family(0, "default", -1, -1)],
    references={"plan": PLAN, "parts": [PLACES[1], PLACES[3]]},
)

AFTER_RESCALE = spec(
    "after-rescale/33.delta",
    "delta",
    {"version": 33, "partition": 5, "partitions": 8, "keyGroups": 48},
    lineage=[link(32, "delta"), link(31, "reference")],
    families=[family(0, "default", 900, 28800)],
    blocks=[block([put(-1712319331, bigint(1), bigint(8))])],
    groups=[group(0, 29, 0, 0, 1, 32)],
)


def store(name: str, first: int, snapshot: Spec) -> list[Spec]:
    """Files of a store, checkpoint format v1, whose snapshot names a head; from a version on."""
    folder = f"{name}/state/0/3"
    files = [
        spec(
            f"{folder}/1.delta",
            "delta",
            {"version": 1},
            families=[family(0, "default", 2, 64)],
            blocks=[
                block(
                    [
                        put(519220707, bigint(3), bigint(100)),
                        put(1788430595, bigint(45), bigint(1)),
                    ]
                )
            ],
            groups=[group(0, 3, 0, 0, 1, 32), group(0, 11, 0, 1, 1, 32)],
        ),
        HEAD_DELTA | {"file": f"valid/{folder}/2.delta"},
        snapshot | {"file": f"valid/{folder}/2.snapshot"},
        spec(
            f"{folder}/3.delta",
            "delta",
            {"version": 3},
            lineage=[link(2, "snapshot")],
            families=[family(0, "default", 3, 96)],
            blocks=[block([put(1764476063, bigint(41), bigint(-1))])],
            groups=[group(0, 23, 0, 0, 1, 32)],
        ),
    ]
    return [it for it in files if it["identity"]["version"] >= first]


HEAD_DELTA = spec(
    "",
    "delta",
    {"version": 2},
    lineage=[link(1, "delta")],
    families=[family(0, "default", 2, 64)],
    blocks=[block([put(519220707, bigint(3), bigint(200))])],
    groups=[group(0, 3, 0, 0, 1, 32)],
)

SNAPSHOT_OF_HEAD = spec(
    "",
    "snapshot",
    {"version": 2},
    lineage=[link(1, "delta")],
    families=[family(0, "default", 2, 64)],
    blocks=[
        block([put(519220707, bigint(3), bigint(200)), put(1788430595, bigint(45), bigint(1))])
    ],
    groups=[group(0, 3, 0, 0, 1, 32), group(0, 11, 0, 1, 1, 32)],
    head=fingerprint(HEAD_DELTA),
)

# From before a rollback: of a delta 2 that is not there any more.
SNAPSHOT_OF_OTHER = SNAPSHOT_OF_HEAD | {
    "blocks": [
        block([put(519220707, bigint(3), bigint(-3)), put(-1490791369, bigint(39), bigint(7))])
    ],
    "groups": [group(0, 3, 0, 0, 1, 32), group(0, 23, 0, 1, 1, 32)],
    "head": fingerprint(HEAD_DELTA) | {"checksum": 0x01020304},
}

# Without version 1 there is only the snapshot to begin with.
HEAD_BELONGS = store("head-belongs", 2, SNAPSHOT_OF_HEAD)
HEAD_REPLACED = store("head-replaced", 1, SNAPSHOT_OF_OTHER)
HEAD_GONE = [
    it for it in store("head-gone", 2, SNAPSHOT_OF_HEAD) if not it["file"].endswith("2.delta")
]

# Versions 2 and 3 have the rows of version 1, and version 5 those of version 4.
UNCHANGED = [
    spec(
        "unchanged/state/0/3/1_a.delta",
        "delta",
        {"version": 1, "id": "a"},
        families=[family(0, "default", 2, 64)],
        blocks=[
            block([put(519220707, bigint(3), bigint(100)), put(1788430595, bigint(45), bigint(1))])
        ],
        groups=[group(0, 3, 0, 0, 1, 32), group(0, 11, 0, 1, 1, 32)],
    ),
    spec(
        "unchanged/state/0/3/4_b.delta",
        "delta",
        {"version": 4, "id": "b"},
        lineage=[link(1, "delta", "a")],
        families=[family(0, "default", 2, 64)],
        blocks=[block([put(519220707, bigint(3), bigint(200))])],
        groups=[group(0, 3, 0, 0, 1, 32)],
    ),
    spec(
        "unchanged/state/0/3/6_c.delta",
        "delta",
        {"version": 6, "id": "c"},
        lineage=[link(4, "delta", "b"), link(1, "delta", "a")],
        families=[family(0, "default", 3, 96)],
        blocks=[block([put(1764476063, bigint(41), bigint(-1))])],
        groups=[group(0, 23, 0, 0, 1, 32)],
    ),
]

# As after retention: of versions before the merged delta's there is the snapshot alone. The merged
# delta has what versions 3 to 5 changed: they dropped `gone`, and `again`, which came back.
MERGED_DELTA = spec(
    "merged-delta/state/0/3/5_d.2.merged",
    "merged",
    {"version": 5, "id": "d"},
    lineage=[link(4, "delta", "c"), link(3, "delta", "b"), link(2, "snapshot", "a")],
    dropped=["gone", "again"],
    families=[
        family(0, "default", 3, 96),
        family(1, "list", 3, 112, multiValue=True, values=5),
        family(2, "again", 1, 32),
    ],
    blocks=[
        block(
            [
                put(519220707, bigint(3), bigint(200)),
                remove(1293116811, bigint(7)),
                put(1764476063, bigint(41), bigint(-1)),
            ]
        ),
        block(
            [
                append(1951874743, bigint(13), bigint(3)),
                remove(-1490791369, bigint(39)),
                append(1764476063, bigint(41), bigint(7), ""),
            ],
            number=1,
        ),
        block([put(519220707, bigint(3), bigint(6))], number=2),
    ],
    groups=[
        group(0, 3, 0, 0, 2, 48),
        group(0, 23, 0, 2, 1, 32),
        group(1, 7, 1, 0, 1, 32),
        group(1, 23, 1, 1, 2, 48),
        group(2, 3, 2, 0, 1, 32),
    ],
    base=2,
)

AFTER_MERGED_DELTA = spec(
    "merged-delta/state/0/3/6_e.delta",
    "delta",
    {"version": 6, "id": "e"},
    lineage=[link(5, "merged", "d", base=2), link(2, "snapshot", "a")],
    families=[
        family(0, "default", 4, 128),
        family(1, "list", 3, 128, multiValue=True, values=6),
        family(2, "again", 1, 32),
    ],
    blocks=[
        block([put(1293116811, bigint(7), bigint(70))]),
        block([append(1951874743, bigint(13), bigint(9))], number=1),
    ],
    groups=[group(0, 3, 0, 0, 1, 32), group(1, 7, 1, 0, 1, 32)],
)

# Versions 7 and 8 are not written; 3 and 4 are in the merged delta.
MERGED = [
    spec(
        "merged-delta/state/0/3/2_a.snapshot",
        "snapshot",
        {"version": 2, "id": "a"},
        lineage=[link(1, "delta", "z")],
        families=[
            family(0, "default", 3, 96),
            family(1, "list", 3, 96, multiValue=True, values=3),
            family(2, "again", 1, 32),
            family(3, "gone", 1, 32),
        ],
        blocks=[
            block(
                [
                    put(519220707, bigint(3), bigint(100)),
                    put(1293116811, bigint(7), bigint(1)),
                    put(1788430595, bigint(45), bigint(1)),
                ]
            ),
            block(
                [
                    put(1951874743, bigint(13), bigint(1)),
                    put(-396892953, bigint(58), bigint(2)),
                    put(-1490791369, bigint(39), bigint(5)),
                ],
                number=1,
            ),
            block([put(1764476063, bigint(41), bigint(9))], number=2),
            block([put(-396892953, bigint(58), bigint(4))], number=3),
        ],
        groups=[
            group(0, 3, 0, 0, 2, 64),
            group(0, 11, 0, 2, 1, 32),
            group(1, 7, 1, 0, 1, 32),
            group(1, 15, 1, 1, 1, 32),
            group(1, 23, 1, 2, 1, 32),
            group(2, 23, 2, 0, 1, 32),
            group(3, 15, 3, 0, 1, 32),
        ],
    ),
    MERGED_DELTA,
    AFTER_MERGED_DELTA,
    spec(
        "merged-delta/state/0/3/9_f.delta",
        "delta",
        {"version": 9, "id": "f"},
        lineage=[
            link(6, "delta", "e"),
            link(5, "merged", "d", base=2),
            link(2, "snapshot", "a"),
        ],
        families=[
            family(0, "default", 3, 96),
            family(1, "list", 2, 96, multiValue=True, values=5),
            family(2, "again", 1, 32),
        ],
        blocks=[
            block([remove(1788430595, bigint(45))]),
            block([remove(-396892953, bigint(58))], number=1),
        ],
        groups=[group(0, 11, 0, 0, 1, 16), group(1, 15, 1, 0, 1, 16)],
    ),
]


def _single(rows: dict[int, int]) -> Spec:
    """Rows of a store with a single value for each key."""
    return {"default": {bigint(key): [bigint(value)] for key, value in rows.items()}}


# Rows of a version of these stores, by its id in the commit log, in operator 0 partition 3: the
# values of each key in each family.
STORES: list[Spec] = [
    {"folder": f"valid/{name}", "version": version, "id": unique, "families": families}
    for name, version, unique, families in (
        *(
            (name, 3, "", _single({3: 200, 45: 1, 41: -1}))
            for name in ("head-belongs", "head-replaced", "head-gone")
        ),
        ("unchanged", 1, "a", _single({3: 100, 45: 1})),
        ("unchanged", 3, "=1_a", _single({3: 100, 45: 1})),
        ("unchanged", 5, "=4_b", _single({3: 200, 45: 1})),
        ("unchanged", 6, "c", _single({3: 200, 45: 1, 41: -1})),
        ("unchanged", 90, "=6_c", _single({3: 200, 45: 1, 41: -1})),
        (
            "merged-delta",
            6,
            "e",
            _single({3: 200, 45: 1, 41: -1, 7: 70})
            | {
                "list": {
                    bigint(13): [bigint(1), bigint(3), bigint(9)],
                    bigint(58): [bigint(2)],
                    bigint(41): [bigint(7), ""],
                },
                "again": {bigint(3): [bigint(6)]},
            },
        ),
        (
            "merged-delta",
            9,
            "f",
            _single({3: 200, 41: -1, 7: 70})
            | {
                "list": {
                    bigint(13): [bigint(1), bigint(3), bigint(9)],
                    bigint(41): [bigint(7), ""],
                },
                "again": {bigint(3): [bigint(6)]},
            },
        ),
    )
]

# Same content as DELTA; the encoder's sections are changed in `files.py`.
UNKNOWN_SECTION = DELTA | {"file": "valid/unknown-section/7.delta"}
SECTIONS_REVERSED = DELTA | {"file": "valid/sections-reversed/7.delta"}

VALID: list[Spec] = [
    DELTA,
    STRAYS,
    EMPTY_DELTA,
    FIRST_DELTA,
    SNAPSHOT_ZSTD,
    SNAPSHOT_LZ4,
    ROW_CHECKSUMS,
    MULTI_VALUE,
    VALUE_CHECKSUMS,
    CONTINUED,
    CONTINUED_DELTA,
    WITH_IDS,
    DROPPED,
    REFERENCE,
    AFTER_RESCALE,
    UNKNOWN_SECTION,
    SECTIONS_REVERSED,
    *HEAD_BELONGS,
    *HEAD_REPLACED,
    *HEAD_GONE,
    *UNCHANGED,
    *MERGED,
]
