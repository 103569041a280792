"""Archives the classes of Spark, so that each of its JVMs starts with a third less work (JEP 350).

`python -m cluster.class_data`, run in `integration-tests`, writes the archive that JVM_OPTIONS has.
A JVM of another class path, or of another Java, does without it.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import keyfold
from cluster.repeated_rows import write_end, write_files
from kit.installation import HERE
from kit.places import CLASS_DATA, INTEGRATION_TESTS, ROOT
from kit.program import PLAIN_JVM_OPTIONS, environment_of

_FILES = 4


def main() -> None:
    with TemporaryDirectory() as folder:
        source = Path(folder) / "in"
        write_files(source, 0, _FILES - 1)
        write_end(source, _FILES)
        # By PySpark's own path: the archive serves class paths of the same files while it is there.
        options = f"{PLAIN_JVM_OPTIONS} -XX:ArchiveClassesAtExit={CLASS_DATA} -Xlog:cds*=error"
        command = [
            *(HERE.spark / "bin" / "spark-submit", "--master", "local[2]"),
            *("--properties-file", ROOT / "conf" / "keyfold-defaults.conf"),
            *("--jars", keyfold.jar_path(HERE.line), "--driver-java-options", options),
            *("--conf", "spark.sql.shuffle.partitions=2"),
            INTEGRATION_TESTS / "cluster" / "windows_job.py",
            *(source, Path(folder) / "checkpoint", Path(folder) / "out"),
        ]
        CLASS_DATA.parent.mkdir(parents=True, exist_ok=True)
        CLASS_DATA.unlink(missing_ok=True)
        subprocess.run(command, check=True, env=environment_of(HERE.spark))  # noqa: S603 - ours


if __name__ == "__main__":
    main()
