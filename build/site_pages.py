"""MkDocs' hook: the pages of the site, each a file of the repository.

A page may link to any file of the repository, as it does where the repository is browsed. Each file
that is linked to becomes a page too, so that no link leaves the site; a link to a file that does
not exist fails the build.
"""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

# Strict builds count the warnings of loggers below `mkdocs`.
_log = logging.getLogger("mkdocs.hooks.site_pages")

_HOME = PurePosixPath("README.md")
_DOCS = PurePosixPath("docs")
_LANGUAGES = {".py": "python", ".scala": "scala", ".toml": "toml", ".conf": "properties"}
# Code, in which nothing is a link, or the path of a link to another file.
_CODE = r"(?P<fence>`{3,}).*?(?P=fence)|`[^`\n]*`"
_LINK = re.compile(_CODE + r"|(?<=\]\()(?P<path>[^)#:\s]+)(?=[)#])", re.DOTALL)
_CODE_IN_CELL = re.compile(r"(?<=<td><code>)[^<]+")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replaces the pages of `docs` by those of every file that can be reached from them."""
    root = Path(config.config_file_path).parent
    pages = [_HOME]
    for file in files.documentation_pages():
        files.remove(file)
        pages.append(_DOCS / file.src_uri)
    for page in pages:  # grows while files that are linked to are found
        text, targets = _with_links_of_site(_markdown(root, page), page, root)
        pages += [it for it in targets if it not in pages]
        files.append(File.generated(config, _place(page), content=text))
    return files


def on_page_content(html: str, **_: object) -> str:
    """Lets long names in tables, such as those of settings, break after their dots."""
    return _CODE_IN_CELL.sub(lambda it: it[0].replace(".", ".<wbr>"), html)


def _place(path: PurePosixPath) -> str:
    """Where the site has a file of the repository."""
    if path == _HOME:
        return "index.md"
    if path.is_relative_to(_DOCS):
        return str(path.relative_to(_DOCS))
    return str(path) if path.suffix == ".md" else f"source/{path}.md"


def _with_links_of_site(
    text: str, page: PurePosixPath, root: Path
) -> tuple[str, list[PurePosixPath]]:
    """The text with links that lead to where the site has the files, and those that are pages."""
    found: dict[PurePosixPath, None] = {}

    def replaced(match: re.Match[str]) -> str:
        link = match["path"]
        if link is None:
            return match[0]
        target = PurePosixPath(os.path.normpath(page.parent / link))
        if not (root / target).exists():
            _log.warning("%s links to %s, which does not exist.", page, target)
            return link
        if target.suffix == ".md" or not target.is_relative_to(_DOCS):
            found[target] = None
        return os.path.relpath(_place(target), PurePosixPath(_place(page)).parent)

    return _LINK.sub(replaced, text), list(found)


def _markdown(root: Path, path: PurePosixPath) -> str:
    file = root / path
    if path.suffix == ".md":
        return file.read_text(encoding="utf-8")
    head = f"---\ntitle: {path.name}\nsearch:\n  exclude: true\n---\n\n# {path}\n\n"
    if file.is_dir():
        names = sorted(it.name for it in file.iterdir() if it.suffix)
        return head + "\n".join(f"- [{it}]({path.name}/{it})" for it in names)
    text = file.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return head + "\n\n".join(map(_cell, json.loads(text)["cells"]))
    return head + _code(text, _LANGUAGES.get(path.suffix, "text"))


def _cell(cell: dict[str, str | list[str]]) -> str:
    """A cell of a notebook, without outputs."""
    text = "".join(cell["source"])
    return text if cell["cell_type"] == "markdown" else _code(text, "python")


def _code(text: str, language: str) -> str:
    # More backticks than any file has in a row.
    return f"``````` {language}\n{text}\n```````\n"
