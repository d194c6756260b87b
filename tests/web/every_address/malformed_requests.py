"""Malformed requests of every address: each begins as one that could be meant, and then something of it is spoilt."""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import TypeAdapter

from api.openapi_document import openapi_document, path_of
from tests.web.api.test_bounded_bodies import SPEC, SWEEP
from tests.web.every_address import malformed
from tests.web.every_address.answered_requests import every_request
from tests.web.every_address.machine_tokens import machine_headers
from tests.web.every_address.malformed_admin import MalformedAdmin
from tests.web.every_address.malformed_request import Malformed
from tests.web.every_address.malformed_uploads import MalformedUploads
from tests.web.every_address.matrix import BODIES, INGEST, OF_ATTEMPT
from tests.web.every_address.schema_examples import Examples
from tests.web.every_address.world import RUN_TOKEN, World
from worker.contracts.events import run_event_adapter
from worker.contracts.gpu_tests import GpuTestReport
from worker.contracts.ingest import BootstrapRequest
from worker.contracts.node_reports import NodeReports
from worker.contracts.previews import PreviewDone

PLACEHOLDER = re.compile(r"<\w+:(\w+)>")
UNKNOWN_NAMES = ("x", "limit", "cursor", "fields", "format", "a[]", "")
WITHOUT_END = {"get api/v1/runs/<uuid:run_id>/stream"}
"""Its body ends with the run."""
OF_RUNS = re.compile(r"get api/v1/(runs|lends|home|metrics|sweeps)")
OF_THE_POOL = re.compile(r"get api/v1/(pool|nodes|gpus|lanes|occupancy|home|metrics)")
EVENTS = f"post {OF_ATTEMPT}events"
REPORTS = f"post {INGEST}nodes/reports"
OF_KIND = {
    "agent": [REPORTS],
    "gpu test": [f"post {INGEST}gpu-tests/<uuid:test_id>/report"],
    "preview": [
        f"post {INGEST}previews/<uuid:preview_id>/done",
        f"get {INGEST}previews/<uuid:preview_id>/files/<path:path>",
        f"put {INGEST}previews/<uuid:preview_id>/images/<str:name>",
    ],
}
"""What the tokens of `machine_headers` open."""
OF_MACHINES: dict[str, TypeAdapter[Any]] = {
    f"post {INGEST}gpu-tests/<uuid:test_id>/report": TypeAdapter(GpuTestReport),
    f"post {INGEST}nodes/reports": TypeAdapter(NodeReports),
    f"post {INGEST}previews/<uuid:preview_id>/done": TypeAdapter(PreviewDone),
    **{
        f"post {INGEST}{kind}bootstrap": TypeAdapter(BootstrapRequest)
        for kind in ("", "gpu-tests/", "nodes/", "previews/")
    },
}


class MalformedRequests:
    """Draws requests of the addresses of a world."""

    def __init__(self, world: World, token: str) -> None:
        self._world, self._token = world, token
        machines = machine_headers(world)
        self._uploads, self._admin = MalformedUploads(world, machines), MalformedAdmin(world)
        self._headers_of = {request: machines[kind] for kind, requests in OF_KIND.items() for request in requests}
        self._document = openapi_document()
        known = {"spec": SPEC, "sweep": SWEEP, "project": world.values["project_id"], "prompts": ["a", "b"]}
        self._known = known | {"yaml": "prompts: {inline: [a]}", "host": "a.example", "username": "outsider"}
        self._examples = Examples(self._document, self._known)
        self.addresses = [request for request in every_request() if request not in WITHOUT_END]

    def drawn(self, seed: str) -> Malformed:
        """One request; the same seed gives the same one."""
        draw = Random(seed)
        # Events are many kinds of body at one address, and reports of nodes are deep.
        kinds = ["events", "reports", "upload", "admin", "any"]
        kind = draw.choices(kinds, [20, 6, 10, 8, 56])[0]
        if kind == "upload":
            return self._uploads.drawn(seed, draw)
        if kind == "admin":
            return self._admin.drawn(seed, draw)
        request = {"events": EVENTS, "reports": REPORTS}.get(kind) or draw.choice(self.addresses)
        method, _, pattern = request.partition(" ")
        what = draw.choices(["body", "bytes", "path", "query", "headers", "method"], [6, 2, 2, 3, 2, 1])[0]
        if method == "get" and what in ("body", "bytes"):
            what = "query"
        body, content_type = self._body(request, pattern, draw, what)
        address = self._address(pattern, draw, is_spoilt=what == "path")
        if what == "query" or draw.random() < 0.05:
            address += f"?{self._query(request, pattern, draw)}"
        headers = {"Authorization": f"Bearer {RUN_TOKEN if pattern.startswith(INGEST) else self._token}"}
        headers |= self._headers_of.get(request, {})
        if what == "headers":
            for name in draw.sample(sorted(malformed.HEADERS), draw.randint(1, 3)):
                headers[name] = draw.choice(malformed.HEADERS[name])
        if what == "method":
            method = draw.choice(malformed.METHODS)
        return Malformed(
            number=seed,
            method=method if what == "method" else method.upper(),
            address=address,
            body=body,
            content_type=content_type,
            headers=headers,
        )

    def _address(self, pattern: str, draw: Random, *, is_spoilt: bool) -> str:
        kind = pattern.removeprefix("api/v1/").partition("/")[0]
        names = PLACEHOLDER.findall(pattern)
        spoilt = draw.choice(names) if is_spoilt and names else ""
        values = [*map(str, malformed.VALUES), "%", "%ff", "..", ".", "a//b", "-1", "9" * 40]

        def filled(match: re.Match[str]) -> str:
            name = match[1]
            if name == spoilt:
                return quote(draw.choice(values), safe=draw.choice(["", "/", "%"]), errors="replace")[:9000]
            return self._world.values.get(f"{kind}.{name}") or self._world.values[name]

        address = "/" + PLACEHOLDER.sub(filled, pattern)
        return address if spoilt or not is_spoilt else address + draw.choice(["/", "//", "%00", "/..;/", ".json", "%"])

    def _query(self, request: str, pattern: str, draw: Random) -> str:
        operation = self._operation(request, pattern)
        known = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
        pairs: list[tuple[str, str]] = []
        for one in draw.sample(known, min(len(known), draw.randint(1, 3))):
            is_good = draw.random() < 0.3
            value = self._examples.of(one["schema"], draw) if is_good else draw.choice(malformed.VALUES)
            pairs += [(one["name"], str(value)[:9000])] * draw.choice([1, 1, 1, 2])
        if not pairs or draw.random() < 0.2:
            pairs.append((draw.choice(UNKNOWN_NAMES), str(draw.choice(malformed.VALUES))[:9000]))
        raw = urlencode(pairs, errors="replace")
        return raw if draw.random() < 0.9 else raw + draw.choice(["%", "&&&", "&=", "%ff", ";", "#"])

    def _body(self, request: str, pattern: str, draw: Random, what: str) -> tuple[bytes, str]:
        value = self._example(request, pattern, draw)
        if value is None:
            return (draw.randbytes(draw.randint(0, 300)), "application/octet-stream") if what != "path" else (b"", "")
        for _ in range(draw.choice([1, 1, 1, 2, 3]) if what == "body" else 0):
            value = malformed.damaged(value, draw)
        if request == EVENTS and what != "method" and isinstance(value, dict):
            value = {"events": [value], "pending": 0}
        text = json.dumps(value)
        if what != "bytes":
            return text.encode(), "application/json"
        if draw.random() < 0.2:
            return text.encode(), draw.choice(malformed.CONTENT_TYPES)
        return malformed.spoilt(text, draw), "application/json"

    def _example(self, request: str, pattern: str, draw: Random) -> Any:
        """A body that could be meant; None where the address takes none, or bytes."""
        if request == EVENTS:
            return {**self._events.of(draw.choice(self._kinds), draw), "seq": 1}
        if request in OF_MACHINES:
            schema = self._machines[request]
            return Examples(schema, {}).of(schema, draw)
        if request in BODIES and draw.random() < 0.5:
            return self._world.filled(BODIES[request])
        content = self._operation(request, pattern).get("requestBody", {}).get("content", {})
        return self._examples.of(content["application/json"]["schema"], draw) if "application/json" in content else None

    def _operation(self, request: str, pattern: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._document["paths"].get(path_of(pattern), {}).get(request.partition(" ")[0], {})
        return found

    @cached_property
    def _event_schema(self) -> dict[str, Any]:
        return run_event_adapter.json_schema()

    @cached_property
    def _kinds(self) -> list[Any]:
        return list(self._event_schema["oneOf"])

    @cached_property
    def _events(self) -> Examples:
        return Examples(self._event_schema, {"at": 1_700_000_000.0})

    @cached_property
    def _machines(self) -> dict[str, Any]:
        return {request: adapter.json_schema() for request, adapter in OF_MACHINES.items()}


def readings_of(world: World, told: re.Pattern[str]) -> list[str]:
    """The addresses that tell of runs (`OF_RUNS`), or `OF_THE_POOL`."""
    found = [request for request in every_request() if told.match(request) and request not in WITHOUT_END]
    return [world.address(request.removeprefix("get "), "owner") for request in found]
