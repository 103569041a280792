"""URIs of S3 as pyarrow reads them: `s3://key:secret@bucket/folder?endpoint_override=host:9000`."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from keyfold.errors import InvalidArgumentError

_QUERY = re.compile(r"(.*?)\?([A-Za-z_]+=[^?]*)", re.DOTALL)
_KNOWN = {"endpoint_override", "scheme", "region"}


def parse_s3_uri(authority: str, path: str) -> tuple[str, str, dict[str, str]]:
    """Bucket and folder of a URI, and what else it says, as storage options.

    Raises InvalidArgumentError, without what the URI says.
    """
    keys, _, bucket = authority.rpartition("@")
    key, _, secret = keys.partition(":")
    query = _QUERY.fullmatch(path)
    said = dict(parse_qsl(query[2], keep_blank_values=True)) if query else {}
    if not said.keys() <= _KNOWN:
        raise InvalidArgumentError(
            f"Invalid checkpoint path in bucket {bucket!r}: after a question mark only "
            f"{', '.join(sorted(_KNOWN))} can be said. Give all else as storage options."
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
