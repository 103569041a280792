from __future__ import annotations

import pytest

from keyfold.format.names import (
    FileKind,
    FileName,
    Version,
    location_of,
    original,
    parse_name,
    written,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1.delta", FileName(1, "", FileKind.DELTA)),
        ("120.snapshot", FileName(120, "", FileKind.SNAPSHOT)),
        ("7_a-b_c.ref", FileName(7, "a-b_c", FileKind.REFERENCE)),
        ("12_a-b.9.merged", FileName(12, "a-b", FileKind.MERGED, 9)),
        (
            "9223372036854775807_a.9223372036854775806.merged",
            FileName(2**63 - 1, "a", FileKind.MERGED, 2**63 - 2),
        ),
    ],
)
def test_name_and_its_parts(text: str, name: FileName) -> None:
    assert parse_name(text) == name
    assert str(name) == text


@pytest.mark.parametrize(
    "text",
    [
        "01.delta",
        "1_.delta",
        "1.zip",
        ".1.delta.crc",
        "1.delta.crc",
        "-1.delta",
        "1_a.b.delta",
        "\u0661.delta",
        "7_a.merged",
        "7.5.merged",
        "7_a.7.merged",
        "7_a.8.merged",
        "7_a.0.merged",
        "7_a.05.merged",
        "7_a.-5.merged",
        "7_a.5.3.merged",
        "7_a.b.merged",
        "7_a.\u0661.merged",
        "7_a.5.delta",
        "7_a.5.snapshot",
        "9223372036854775807_a.9223372036854775808.merged",
        f"7_a.{'9' * 5000}.merged",
    ],
)
def test_other_names_are_not_ours(text: str) -> None:
    assert parse_name(text) is None


def test_place_is_read_from_the_path() -> None:
    path = "s3://b/cp/state/1/22/left/7.delta"
    assert str(location_of(path)) == "operator 1 partition 22 store left"
    assert location_of("7.delta") is None


@pytest.mark.parametrize(
    ("unique", "version"),
    [("", Version(9, "")), ("a", Version(9, "a")), ("=8_a", Version(8, "a")), ("=1_=", None)]
    + [(it, None) for it in ("=", "=8", "=8_", "=9_a", "=10_a", "=0_a", "=08_a", "=x_a", "=8_a/b")],
)
def test_an_id_leads_to_the_version_that_is_written(unique: str, version: Version | None) -> None:
    assert written(9, unique) == version


@pytest.mark.parametrize(
    ("unique", "version"),
    [
        ("a", Version(9, "a")),
        ("b~a", Version(9, "a")),
        ("b~=7_a", Version(7, "a")),
        ("b~=9_a", Version(9, "b~=9_a")),
    ],
)
def test_an_id_says_in_whose_place_it_is(unique: str, version: Version) -> None:
    assert original(Version(9, unique)) == version
