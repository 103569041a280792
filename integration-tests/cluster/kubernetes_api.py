"""As much of the Kubernetes API as Spark uses, over HTTP: it keeps what it is given."""

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

Object = dict[str, Any]
# /api/v1/namespaces/default/pods/NAME, /apis/networking.k8s.io/v1/...
PLACE = re.compile(r"/apis?/[\w./]+/namespaces/[\w-]+/(?P<kinds>\w+)(/(?P<name>[\w.-]+))?")
MISSING: Object = {"kind": "Status", "apiVersion": "v1", "code": 404, "reason": "NotFound"}
DONE: Object = {"kind": "Status", "apiVersion": "v1", "status": "Success"}


class KubernetesApi(ThreadingHTTPServer):
    """Serves at `url` until `close`. `start` is called with each pod that is created."""

    daemon_threads = True

    def __init__(self, start: Callable[[Object], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.start = start
        # What clients have sent, as they sent it.
        self.received: list[Object] = []
        self.kept: dict[tuple[str, str], Object] = {}
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def close(self) -> None:
        self.shutdown()
        self.server_close()

    def pods(self, role: str) -> list[Object]:
        """The pods of Spark's drivers or executors that were created."""
        pods = [it for it in self.received if it["kind"] == "Pod"]
        return [it for it in pods if it["metadata"]["labels"]["spark-role"] == role]

    def keep(self, kinds: str, sent: Object) -> Object:
        """The object as the API shows it from now on."""
        self.received.append(sent)
        name = sent["metadata"]["name"]
        metadata = {**sent["metadata"], "namespace": "default", "uid": f"{kinds}-{name}"}
        made = {**sent, "metadata": metadata}
        if kinds == "pods":
            made["status"] = {"phase": "Running", "podIP": "127.0.0.1"}
        self.kept[kinds, name] = made
        return made


class _Handler(BaseHTTPRequestHandler):
    server: KubernetesApi
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        kinds, name = self._place()
        if name is not None:
            found = self.server.kept.get((kinds, name))
            self._answer(MISSING if found is None else found)
            return
        asked = parse_qs(urlsplit(self.path).query).get("labelSelector", [""])[0]
        labels = {tuple(it.split("=")) for it in asked.split(",") if "=" in it}
        kept = [it for (kind, _), it in list(self.server.kept.items()) if kind == kinds]
        items = [it for it in kept if labels <= it["metadata"]["labels"].items()]
        self._answer({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items})

    def do_POST(self) -> None:
        kinds, name = self._place()
        sent = self._body()
        known = name is not None and (kinds, name) in self.server.kept
        made = self.server.keep(kinds, sent)
        self._answer(made)
        if kinds == "pods" and not known:
            self.server.start(made)

    def do_DELETE(self) -> None:
        kinds, name = self._place()
        self._body()
        for key in list(self.server.kept):
            if key[0] == kinds and name in {None, key[1]}:
                del self.server.kept[key]
        self._answer(DONE)

    # Server-side apply sends the whole object.
    do_PUT = do_PATCH = do_POST  # noqa: N815 - the base class calls them so

    def log_message(self, *_: object) -> None:
        pass

    def _place(self) -> tuple[str, str | None]:
        found = PLACE.fullmatch(urlsplit(self.path).path)
        if found is None:
            raise NotImplementedError(self.path)
        return found["kinds"], found["name"]

    def _body(self) -> Object:
        # JSON is YAML.
        body: Object = yaml.safe_load(self.rfile.read(int(self.headers["Content-Length"] or 0)))
        return body

    def _answer(self, what: Object) -> None:
        text = json.dumps(what).encode()
        self.send_response(HTTPStatus.NOT_FOUND if what is MISSING else HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
