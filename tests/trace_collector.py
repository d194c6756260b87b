"""A collector that speaks OTLP over HTTP: protobuf, as OpenTelemetry's own takes it."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_POLL_SECONDS = 0.01


@dataclass
class Collector:
    """What it was sent, decoded."""

    address: str = ""
    spans: list[Span] = field(default_factory=list)
    services: set[str] = field(default_factory=set)

    @property
    def by_name(self) -> dict[str, Span]:
        """Of spans with one name the last."""
        return {span.name: span for span in self.spans}

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {one.key: one.value.string_value for one in resource.resource.attributes}
            self.services.add(about["service.name"])
            for scope in resource.scope_spans:
                self.spans += scope.spans


def attributes(span: Span) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@contextmanager
def running_collector() -> Iterator[Collector]:
    made = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.take(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True).start()
        made.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield made
        server.shutdown()
