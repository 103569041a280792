"""Which file system a path is on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import fs

from keyfold.errors import ExtraMissingError, InvalidArgumentError, StorageError
from keyfold.storage.file_systems import ArrowFiles, FsspecFiles
from keyfold.storage.files import RemoteFiles

# At least two letters, so that a drive letter is not taken for a scheme.
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?:/([^/?]*))?(.*)", re.DOTALL)
# Schemes of Spark and Hadoop for what obstore calls s3, gs and abfss.
_OBJECT_STORES = {
    "s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs",
    "abfs": "abfss", "abfss": "abfss", "wasb": "abfss", "wasbs": "abfss",
}  # fmt: skip
_HADOOP = (
    "HDFS is read by Hadoop's own client: set JAVA_HOME to a JDK, HADOOP_HOME to Hadoop's folder "
    "and CLASSPATH to the output of `hadoop classpath --glob`, and check host and port."
)
_SECRET = re.compile(r"(secret|token|password|sas|credential|key)(?!.*_id$)", re.IGNORECASE)

# After the question mark of a URI of S3.
_S3_QUERY = re.compile(r"(.*?)\?([A-Za-z_]+=[^?]*)", re.DOTALL)
_S3_KNOWN = {"endpoint_override", "scheme", "region"}


@dataclass(frozen=True)
class Location:
    """A folder: its file system, its path there, how to show it, and what not to show."""

    files: ArrowFiles | RemoteFiles
    base: str
    shown: str
    secrets: tuple[str, ...] = ()


def is_uri(root: str) -> bool:
    """Whether it is not a local path."""
    return _URI.fullmatch(root) is not None


def kind_of(root: str) -> str:
    """The kind of storage that a path or URI is on; empty for a local path."""
    found = _URI.fullmatch(root)
    scheme = found[1].lower() if found else ""
    return _OBJECT_STORES.get(scheme, scheme)


def path_of(root: str) -> str:
    """The path in a path or URI. Hadoop does not encode special characters, so none is decoded."""
    found = _URI.fullmatch(root)
    return root if found is None else f"/{found[3].lstrip('/')}"


def resolve(root: str, options: Mapping[str, Any]) -> Location:
    """The location of a path or URI.

    Raises:
        InvalidArgumentError: it is neither, or there is no such option.
        ExtraMissingError: the file system needs a package that is not installed.
        StorageError: HDFS cannot be reached.
    """
    found = _URI.fullmatch(root)
    if found is None:
        _refuse_options(root, options)
        return Location(ArrowFiles(fs.LocalFileSystem()), str(Path(root).absolute()), root)
    scheme, authority, path = found[1].lower(), found[2] or "", found[3]
    if scheme in _OBJECT_STORES:
        return _of_object_store(found[1], authority, path, options)
    if ":" in authority.rpartition("@")[0]:
        raise InvalidArgumentError(
            f"Invalid checkpoint path: a URI of {scheme} with a password in it. Give it as a "
            "storage option, which is not shown."
        )
    if scheme in {"file", "hdfs", "viewfs"}:
        # Hadoop does not encode special characters of a path, and users do not either.
        return _of_arrow(root, f"{scheme}://{authority}/{quote(path.lstrip('/'))}", options)
    return _of_fsspec(root, scheme, options)


def _of_object_store(
    scheme: str, authority: str, path: str, options: Mapping[str, Any]
) -> Location:
    # Here, since a checkpoint on a disk is read without it.
    from keyfold.storage.object_store import bucket_files  # noqa: PLC0415

    kind, given = _OBJECT_STORES[scheme.lower()], dict(options)
    if kind == "s3":
        authority, path, of_uri = parse_s3_uri(authority, path)
        given = of_uri | given
    shown = f"{scheme}://{authority}{path}"
    files = bucket_files(kind, authority, given, shown=shown)
    return Location(files, path.strip("/"), shown, _secrets(given))


def _of_arrow(root: str, uri: str, options: Mapping[str, Any]) -> Location:
    _refuse_options(root, options)
    try:
        files, base = fs.FileSystem.from_uri(uri)
    except OSError as error:
        # Pyarrow tells of each place where it has looked, a line each.
        said = str(error).partition("\n")[0]
        raise StorageError(f"Cannot reach {root}: {said}. {_HADOOP}") from error
    except (ValueError, pa.ArrowException) as error:
        raise InvalidArgumentError(
            f"Invalid checkpoint path {root!r}: {error}. Use a local path or a URI."
        ) from error
    return Location(ArrowFiles(files), base.rstrip("/"), root)


def _of_fsspec(root: str, scheme: str, options: Mapping[str, Any]) -> Location:
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped] # noqa: PLC0415
    except ImportError as error:
        raise ExtraMissingError(
            f"Cannot read {root!r}: Keyfold reads file:, hdfs:, s3:, gs: and abfss: itself, and "
            f"other schemes by fsspec: pip install fsspec, and fsspec's package for {scheme}:."
        ) from error
    try:
        files, base = url_to_fs(root, use_listings_cache=False, **options)
    except ImportError as error:
        raise ExtraMissingError(f"Cannot read {root!r}: {error}") from error
    except (TypeError, ValueError) as error:
        said = str(error)
        for secret in _secrets(options):
            said = said.replace(secret, "***")
        raise InvalidArgumentError(
            f"Invalid checkpoint path or storage options for {root!r}: {said}. Use a local path, "
            "or a URI with file:, hdfs:, s3:, gs:, abfss: or a scheme that fsspec knows."
        ) from None
    return Location(FsspecFiles(files), base.rstrip("/"), root, _secrets(options))


def _refuse_options(root: str, options: Mapping[str, Any]) -> None:
    if options:
        raise InvalidArgumentError(
            f"Invalid storage options for {root!r}: {', '.join(options)}. Local disks and HDFS "
            "take none; HDFS is set up by Hadoop's files in HADOOP_CONF_DIR."
        )


def _secrets(options: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(value) for name, value in options.items() if value and _SECRET.search(name))


def parse_s3_uri(authority: str, path: str) -> tuple[str, str, dict[str, str]]:
    """Bucket and folder of a URI, and what else it says, as storage options.

    It is one as pyarrow reads them: `s3://key:secret@bucket/folder?endpoint_override=host:9000`.

    Raises InvalidArgumentError, without what the URI says.
    """
    keys, _, bucket = authority.rpartition("@")
    key, _, secret = keys.partition(":")
    query = _S3_QUERY.fullmatch(path)
    said = dict(parse_qsl(query[2], keep_blank_values=True)) if query else {}
    if not said.keys() <= _S3_KNOWN:
        raise InvalidArgumentError(
            f"Invalid checkpoint path in bucket {bucket!r}: after a question mark only "
            f"{', '.join(sorted(_S3_KNOWN))} can be said. Give all else as storage options."
        )
    endpoint = said.get("endpoint_override")
    options = {
        "aws_access_key_id": unquote(key),
        "aws_secret_access_key": unquote(secret),
        "aws_region": said.get("region"),
        "aws_endpoint_url": f"{said.get('scheme', 'https')}://{endpoint}" if endpoint else None,
    }
    folder = query[1] if query else path
    return bucket, folder, {name: value for name, value in options.items() if value}
