"""Writes checkpoint folders as Spark and Keyfold do, without either."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyfold.settings import PROVIDER_CLASS, PROVIDER_KEY, STRICT_KEY
from kit.golden.encoder import encode
from kit.golden.manifest import PLACES
from kit.golden.spec import family, spec

QUERY = "3b241101-e2bb-4255-8caf-4136c566a962"
KINDS = {"delta": "delta", "snapshot": "snapshot", "reference": "ref"}


class FakeCheckpoint:
    """A checkpoint of one query with 12 key groups, and 2 partitions unless told otherwise."""

    partitions = 2

    def __init__(self, root: Path, *, provider: str | None = PROVIDER_CLASS) -> None:
        self.root = root
        self.provider = provider
        self.write("metadata", json.dumps({"id": QUERY}))

    def write(self, path: str, content: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # At once, as Keyfold and Spark write: some tests write beside readers.
        whole = self.root.with_name(f"{self.root.name}-{target.name}.part")
        whole.write_bytes(content.encode() if isinstance(content, str) else content)
        whole.replace(target)
        return target

    def start(self, batch: int, *, version: str = "v1", partitions: int | None = None) -> None:
        """Offsets of a batch that began at `batch` seconds after 2023-11-14 22:13:20 UTC."""
        conf = {
            "spark.sql.shuffle.partitions": str(partitions or self.partitions),
            STRICT_KEY: "true",
        }
        if self.provider:
            conf[PROVIDER_KEY] = self.provider
        began = 1700000000000 + batch * 1000
        metadata = {
            "batchWatermarkMs": 0,
            "batchTimestampMs": began,
            "conf": conf,
        }
        source = "0" if version == "v1" else "0:0"
        entry = self.write(f"offsets/{batch}", f"{version}\n{json.dumps(metadata)}\n{source}")
        os.utime(entry, (began / 1000,) * 2)

    def commit(self, batch: int, ids: dict[int, list[list[str]]] | None = None) -> None:
        if ids is None:
            self.write(f"commits/{batch}", 'v1\n{"nextBatchWatermarkMs":0}')
        else:
            found = {"nextBatchWatermarkMs": 0, "stateUniqueIds": ids}
            self.write(f"commits/{batch}", f"v2\n{json.dumps(found)}")

    def run(self, *batches: int) -> None:
        """Batches started and committed."""
        for batch in batches:
            self.start(batch)
            self.commit(batch)

    def operator(
        self,
        number: int = 0,
        name: str = "stateStoreSave",
        stores: tuple[str, ...] = ("default",),
        partitions: int | None = None,
    ) -> None:
        """Metadata of an operator, in format v1."""
        content = _metadata(number, name, stores, partitions or self.partitions)
        self.write(f"state/{number}/_metadata/metadata", content)

    def operator_v2(
        self, batch: int, number: int = 0, name: str = "transformWithStateExec", partitions: int = 2
    ) -> Path:
        """Metadata of an operator, in format v2."""
        content = _metadata(number, name, ("default",), partitions)
        return self.write(f"state/{number}/_metadata/v2/{batch}", "v2" + content.removeprefix("v1"))

    def state(
        self, version: int, kind: str = "delta", *, partition: int = 0, **other: object
    ) -> Path:
        """A file without entries whose footer says 10 rows of 32 bytes, or what `other` says.

        `other` may name `lineage`, `families`, and fields of the identity.
        """
        lineage = other.pop("lineage", [])
        families = other.pop("families", [family(0, "default", 10, 320)])
        layout = {"partitions": self.partitions, "keyGroups": 12}
        identity = {"version": version, "partition": partition} | layout | other
        content = encode(
            spec(
                "",
                kind,
                identity,
                lineage=lineage,
                families=families,
                references={"plan": "p", "parts": PLACES[:1]},
            )
        )
        unique = f"_{identity['id']}" if identity.get("id") else ""
        store = f"{identity['store']}/" if identity.get("store") else ""
        name = f"{version}{unique}.{KINDS[kind]}"
        return self.write(f"state/{identity.get('operator', 0)}/{partition}/{store}{name}", content)


def _metadata(number: int, name: str, stores: tuple[str, ...], partitions: int) -> str:
    described = [
        {"storeName": store, "numColsPrefixKey": 0, "numPartitions": partitions} for store in stores
    ]
    info = {"operatorId": number, "operatorName": name}
    return "v1\n" + json.dumps({"operatorInfo": info, "stateStoreInfo": described})
