"""The part of a W&B server that a run needs: it keeps one run's history as it is sent, and tells of it when the run is
resumed. Written after what wandb 0.31 asks; a real server cannot be had here."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class WandbServer:
    def __init__(self) -> None:
        self.url = ""
        self.history: list[str] = []
        """Lines by their offset, as W&B keeps them."""
        self.config: dict[str, Any] = {}
        self.files: set[str] = set()
        self.keys: set[str] = set()
        """Of those who came, as they authorised themselves."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.history]

    def answer(self, operation: str, variables: dict[str, Any]) -> dict[str, Any]:
        """To a request in GraphQL."""
        if operation == "RunResumeStatus":
            return {"model": {"id": "p", "name": variables["project"], "bucket": self._bucket(variables["name"])}}
        if operation == "UpsertBucket":
            self.config |= {key: one["value"] for key, one in json.loads(variables["config"]).items()}
            project = {"id": "p", "name": variables["project"], "entity": {"id": "e", "name": variables["entity"]}}
            bucket = {"id": "b", "name": variables["name"], "displayName": "", "project": project, "config": "{}"}
            return {"upsertBucket": {"bucket": {**bucket, "historyLineCount": len(self.history)}, "inserted": True}}
        if operation == "CreateRunFiles":
            files = [{"name": name, "uploadUrl": f"{self.url}/uploads/{name}"} for name in variables["files"]]
            return {"createRunFiles": {"runID": "b", "uploadHeaders": [], "files": files}}
        return {}

    def take(self, stream: dict[str, Any]) -> None:
        """What was sent of a run's files."""
        for name, chunk in stream.get("files", {}).items():
            if name == "wandb-history.jsonl":
                del self.history[chunk["offset"] :]
                self.history += chunk["content"]

    def _bucket(self, name: str) -> dict[str, Any] | None:
        if not self.history:
            return None
        tail = json.dumps(self.history[-1:])
        counts = {"historyLineCount": len(self.history), "logLineCount": 0, "eventsLineCount": 0}
        told = {"historyTail": tail, "eventsTail": "[]", "config": "{}", "summaryMetrics": "{}", "tags": []}
        return {"id": "b", "name": name, "displayName": "", "notes": "", **counts, **told, "wandbConfig": '{"t": 1}'}


@contextmanager
def wandb_server() -> Iterator[WandbServer]:
    kept = WandbServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._send({})

        def do_PUT(self) -> None:
            self._body()
            kept.files.add(self.path.removeprefix("/uploads/"))
            self._send({})

        def do_POST(self) -> None:
            body = self._body()
            if not body:
                self._send({})  # of a session that is killed while it sends
                return
            asked = json.loads(body)
            kept.keys.add(self.headers.get("Authorization", ""))
            if self.path == "/graphql":
                self._send({"data": kept.answer(asked["operationName"], asked["variables"])})
            else:
                kept.take(asked)
                self._send({"exitcode": None, "limits": {}})

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _send(self, answer: dict[str, Any]) -> None:
            body = b"" if self.command == "HEAD" else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing: the test says what went wrong."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield kept
        server.shutdown()
        thread.join()
