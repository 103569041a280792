"""What each line of Spark left after the first of the two applications, kept to go on with.

`python -m operators.golden 4.0`, run in `integration-tests`, writes it again.
"""

import io
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.installation import installation_of
from kit.places import INTEGRATION_TESTS
from operators.applications import start
from operators.inputs import FILES_BEFORE, write_input

FAMILIES = ("builtin", "joins", "processors")
# Spark's logs have the paths of the input and of the checkpoint in them.
FOLDER = b"/KEYFOLD_GOLDEN"


def archive(line: str) -> Path:
    return INTEGRATION_TESTS / "golden" / "lines" / f"spark-{line}.tar.xz"


def unpack(line: str, family: str, folder: Path) -> None:
    """Lays a family's input and checkpoints into `folder`, as if they had been made there."""
    with tarfile.open(archive(line)) as packed:
        for member in packed:
            top, _, rest = member.name.partition("/")
            if top == family:
                target = folder / rest
                target.parent.mkdir(parents=True, exist_ok=True)
                with packed.extractfile(member) or io.BytesIO() as source:
                    target.write_bytes(source.read().replace(FOLDER, str(folder).encode()))


def pack(folders: dict[str, Path], target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    with tarfile.open(target, "w:xz") as packed:
        for family, folder in folders.items():
            for path in sorted(it for it in folder.rglob("*") if it.is_file()):
                inside = path.relative_to(folder)
                if not inside.parts[0].startswith("spark-") and path.suffix != ".log":
                    content = path.read_bytes().replace(str(folder).encode(), FOLDER)
                    member = tarfile.TarInfo(f"{family}/{inside}")
                    member.size = len(content)
                    packed.addfile(member, io.BytesIO(content))


def main(line: str) -> None:
    with TemporaryDirectory() as root:
        folders = {}
        for family in FAMILIES:
            folders[family] = folder = Path(root) / family
            folder.mkdir()
            write_input(folder, range(FILES_BEFORE))
            start(family, folder, installation_of(line), begun_on=line)
        pack(folders, archive(line))


if __name__ == "__main__":
    main(sys.argv[1])
