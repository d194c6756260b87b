"""An HTTP ingest server for tests, which follows the numbering rules of `worker.contracts.ingest` and records
everything."""

import hashlib
import io
import json
import tarfile
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from worker.contracts.events import run_event_adapter
from worker.contracts.ingest import SHA256_HEADER

TOKEN = "token-of-the-test-run"


@dataclass
class Ingest:
    """The server's state. Tests set `is_unreachable` or `is_fenced`, or append to `commands`, while it runs."""

    bootstrap: dict[str, Any] = field(default_factory=dict)
    prompts: list[Any] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    artifacts: dict[str, bytes] = field(default_factory=dict)
    commands: list[dict[str, Any]] = field(default_factory=list)
    num_posts: int = 0
    num_puts: int = 0
    """Requests with artifacts, with one or with several."""
    refused_artifacts: frozenset[str] = frozenset()
    """Paths that are answered with status 422, alone and among others."""
    num_puts_to_fail: int = 0
    """The number of uploads that will fail with status 503."""
    is_unreachable: bool = False
    """Whether connections are closed without an answer."""
    is_fenced: bool = False
    """Whether every request is answered with status 410."""
    is_watched: bool = False
    """Whether the answers say that somebody watches the run."""
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def high_water(self) -> int:
        """The number of the newest event; 0 while there is none."""
        return self.events[-1]["seq"] if self.events else 0

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The events of one type, oldest first."""
        return [event for event in self.events if event["type"] == kind]

    def take(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """Take one post of events: repeats are dropped, a gap is refused, everything else is validated and kept."""
        with self.lock:
            self.num_posts += 1
            for event in json.loads(body)["events"]:
                if event["seq"] <= self.high_water:
                    continue
                if event["seq"] != self.high_water + 1:
                    return 409, {"expected": self.high_water + 1}
                run_event_adapter.validate_python(event)
                self.events.append(event)
            answer = {"acknowledged": self.high_water, "commands": list(self.commands), "is_watched": self.is_watched}
            return 200, answer

    def store(self, path: str, body: bytes, digest: str) -> tuple[int, dict[str, Any]]:
        """Store an artifact or a tar of several, unless the checksum is wrong or the upload is to fail."""
        with self.lock:
            self.num_puts += 1
            if self.num_puts_to_fail:
                self.num_puts_to_fail -= 1
                return 503, {}
            if hashlib.sha256(body).hexdigest() != digest:
                return 400, {"detail": "checksum"}
            files = _files(body) if path.endswith("/artifacts") else {path.split("/artifacts/", 1)[1]: body}
            if self.refused_artifacts & files.keys():
                return 422, {"detail": "refused"}
            self.artifacts |= files
            return 201, {}


def _files(body: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as tar:
        return {member.name: file.read() for member in tar if (file := tar.extractfile(member)) is not None}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ingest: Ingest

    def log_message(self, *arguments: Any) -> None:
        pass

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _serve(self, body: bytes) -> tuple[int, dict[str, Any]]:
        if self.path.endswith("/bootstrap"):
            return (200, self.ingest.bootstrap) if self.ingest.bootstrap else (404, {})
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, {"detail": "bad token"}
        if self.ingest.is_fenced:
            return 410, {"detail": "a newer attempt exists"}
        if self.command == "GET":
            return 200, {"prompts": self.ingest.prompts}
        if self.command == "PUT" or self.path.endswith("/artifacts"):
            return self.ingest.store(self.path, body, self.headers[SHA256_HEADER])
        return self.ingest.take(body)

    def do_PUT(self) -> None:
        self.do_POST()

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.ingest.is_unreachable:
            self.close_connection = True
            return
        self._answer(*self._serve(body))


def start_ingest() -> tuple[Ingest, ThreadingHTTPServer]:
    """Start a server on a free loopback port; the caller shuts it down."""
    ingest = Ingest()
    handler = type("Handler", (_Handler,), {"ingest": ingest})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    ingest.url = f"http://127.0.0.1:{server.server_address[1]}"
    return ingest, server
