"""Writes docs/errors.md from docs/errors.toml, the registry of conditions."""

from pathlib import Path

import tomllib

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = """# Errors

Generated from `errors.toml` by `make docs`; do not edit. The message of each error of Keyfold
begins with its condition in brackets, in Scala and in Python. The condition is stable; the rest of
the message is for people and may change.
"""


def conditions() -> dict[str, dict[str, tuple[str, str]]]:
    """Meaning and what to do of each condition, by heading."""
    return tomllib.loads((DOCS / "errors.toml").read_text(encoding="utf-8"))


def page() -> str:
    """The page in Markdown."""
    lines = [HEAD]
    for heading, its in conditions().items():
        lines += [f"## {heading}", ""]
        for condition, (meaning, action) in its.items():
            lines += [f"### {condition}", "", meaning, "", f"**What to do:** {action}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    (DOCS / "errors.md").write_text(page(), encoding="utf-8")
