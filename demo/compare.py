"""Compares two answers row for row."""

from dataclasses import dataclass

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]


@dataclass(frozen=True)
class Verdict:
    """What a comparison found; a row that occurs twice counts twice."""

    query: str
    reference: str
    # Rows of the result, rows only the reference has, rows only the result has.
    rows: int
    missing: int
    unexpected: int

    @property
    def exact(self) -> bool:
        """Whether both answers have the same rows; two empty answers prove nothing."""
        return self.rows > 0 and self.missing == 0 and self.unexpected == 0


def compare(query: str, reference: str, found: pa.Table, expected: pa.Table) -> Verdict:
    """Compare all columns of `found` with the same columns of `expected`, in any order of rows."""
    names = found.column_names
    aligned = expected.select(names).cast(found.schema)
    both = pa.concat_tables([_weighed(found, 1), _weighed(aligned, -1)])
    # Grouping takes missing values for equal, as a comparison of rows must.
    surplus = both.group_by(names).aggregate([("weight", "sum")])["weight_sum"]
    return Verdict(
        query=query,
        reference=reference,
        rows=found.num_rows,
        missing=-pc.sum(pc.min_element_wise(surplus, 0), min_count=0).as_py(),
        unexpected=pc.sum(pc.max_element_wise(surplus, 0), min_count=0).as_py(),
    )


def _weighed(table: pa.Table, weight: int) -> pa.Table:
    """Add a column that says for which side a row counts."""
    return table.append_column("weight", pa.array([weight] * table.num_rows, pa.int64()))
