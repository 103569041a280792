"""A client of S3 that tries nothing twice: what happened to a request is what it sees."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timezone
from http.client import HTTPConnection
from urllib.parse import quote, urlencode

from kit.servers.s3 import ACCESS_KEY, BUCKET, REGION, SECRET_KEY

UNSIGNED = "UNSIGNED-PAYLOAD"


class S3Client:
    """Requests on one connection to a port of 127.0.0.1; a new one follows one that has ended."""

    def __init__(self, port: int, timeout_s: float = 30) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        self._host = f"127.0.0.1:{port}"

    def request(
        self,
        method: str,
        key: str = "",
        body: bytes | None = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Status and body of the answer. An empty key is the bucket.

        Raises:
            OSError: the connection has ended before the answer, or the time was over.
            HTTPException: the connection has ended within the answer.
        """
        path = quote(f"/{BUCKET}/{key}" if key else f"/{BUCKET}")
        asked = urlencode(sorted((query or {}).items()), quote_via=quote)
        signed = self._signed(method, path, asked, headers or {})
        target = f"{path}?{asked}" if asked else path
        try:
            self._connection.request(method, target, body, signed)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def _signed(
        self, method: str, path: str, query: str, more: Mapping[str, str]
    ) -> dict[str, str]:
        """All headers, with a signature of version 4 of them."""
        now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        signed = {"host": self._host, "x-amz-content-sha256": UNSIGNED, "x-amz-date": now, **more}
        headers = dict(sorted(signed.items()))
        names = ";".join(headers)
        lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        request = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{UNSIGNED}"
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = f"AWS4{SECRET_KEY}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{digest}"
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, "
            f"SignedHeaders={names}, Signature={signature}"
        )
        return headers
