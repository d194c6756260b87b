"""The measurements of `tests.bench.pool`. Django must be set up before this is imported."""

import json
import os
import statistics
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from django.utils import timezone
from playwright.sync_api import Page, sync_playwright
from websockets.sync.client import ClientConnection, connect

from fleet.models import Gpu, Lane, LaneUse, Node
from fleet.pools.pool_changes import digests
from server.embedded.local_servers import database_and_broker
from server.embedded.waiting import wait_until
from server.stack.first_start import migrate_and_collect
from server.stack.processes import web_process
from tests.bench.dispatch_figures import dispatch_figures
from tests.bench.percentiles import p95
from tests.bench.reclaim_figures import reclaim_figures
from tests.bench.seeded_history import DAYS, seed_history
from tests.bench.seeded_pool import Seeded, node_reports, seed
from worker.contracts.node_reports import REPORTS_PATH

PARTS = ("rest", "frames", "page", "dispatch", "history", "reclaim")
CHROMIUM = "/usr/bin/chromium"
START_SECONDS = 60.0
FRAME_SECONDS = 20.0
NUM_USES = 10_000
NUM_WARM_UP = 3
"""Requests before those that count: connections are opened and code is imported."""
POST_SECONDS = 1.0
"""Between two posts while the page is watched: three times as often as an agent reports."""
WATCH_TASKS = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.tasks.push(Math.round(entry.duration));
}).observe({ type: "longtask", buffered: true });
"""
Figures = dict[str, float | int]


@contextmanager
def served(var: Path, port: int) -> Iterator[str]:
    """The web as a process of its own, on a database that is migrated. Yields its address."""
    address = f"http://127.0.0.1:{port}"
    with database_and_broker(var):
        migrate_and_collect()
        spec = web_process({"TANDEM_VAR": str(var), "TANDEM_PORT": str(port), "TANDEM_PUBLIC_URL": address})
        with (var / "web.log").open("wb") as log:
            process = subprocess.Popen(spec.argv, env=spec.env, cwd=spec.cwd, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: _answers(address), what="the web", timeout_seconds=START_SECONDS, failure=lambda: None)
            yield address
        finally:
            process.terminate()
            process.wait(START_SECONDS)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/api/v1/health/live", timeout=2).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def measure(
    var: Path, port: int, num_nodes: int, num_gpus: int, num_rounds: int, parts: Sequence[str] = PARTS
) -> dict[str, Any]:
    with served(var, port) as address:
        seeded = seed(num_nodes, num_gpus)
        figures: dict[str, Figures] = {}
        if "rest" in parts:
            figures |= rest_figures(address, seeded, num_rounds)
        if "frames" in parts:
            figures |= frame_figures(address, seeded, num_nodes, num_gpus, num_rounds)
        if "page" in parts:
            figures |= page_figures(address, seeded, num_nodes, num_gpus, num_rounds)
        if "dispatch" in parts:
            figures |= dispatch_figures(var, num_rounds)
        if "history" in parts:
            figures |= history_figures(address, seeded, num_rounds)
        if "reclaim" in parts:
            figures |= reclaim_figures()
        counts = {"num_nodes": Node.objects.count(), "num_gpus": Gpu.objects.count(), "num_lanes": Lane.objects.count()}
    return {**counts, "num_cores": os.cpu_count(), "load": os.getloadavg()[0], "figures": figures}


def timed(act: Callable[[], Any], num_rounds: int) -> Figures:
    """Milliseconds of a call: median and 95th percentile."""
    for _ in range(NUM_WARM_UP):
        act()
    taken = []
    for _ in range(num_rounds):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
    return {"ms": statistics.median(taken), "p95_ms": p95(taken)}


def client(address: str, seeded: Seeded) -> httpx.Client:
    return httpx.Client(base_url=address, cookies=seeded.session, timeout=30)


def rest_figures(address: str, seeded: Seeded, num_rounds: int) -> dict[str, Figures]:
    with client(address, seeded) as http:

        def get(path: str) -> httpx.Response:
            answer = http.get(f"/api/v1/{path}")
            answer.raise_for_status()
            return answer

        first = Node.objects.order_by("name").values_list("pk", flat=True)
        gpus = list(Gpu.objects.values_list("pk", flat=True))
        paths = {
            "GET nodes": "nodes",
            "GET nodes, one of them": f"nodes?ids={first[0]}",
            "GET nodes, eight of them": f"nodes?ids={','.join(map(str, first[:8]))}",
            "GET gpus/{id}/history": f"gpus/{gpus[0]}/history",
        }
        figures = {
            name: {"bytes": len(get(path).content), **timed(lambda path=path: get(path), num_rounds)}  # type: ignore[misc]
            for name, path in paths.items()
        }
        http.get("/pool")
        http.headers["X-CSRFToken"] = http.cookies["csrftoken"]
        turns = iter(range(10**6))

        def act() -> None:
            body = {"action": "cordon", "reason": f"turn {next(turns)}", "gpus": gpus}
            http.post("/api/v1/pool/actions", json=body, headers={"Referer": address}).raise_for_status()

        figures[f"POST pool/actions on {len(gpus)} GPUs"] = timed(act, max(3, num_rounds // 5))
        body = {"action": "resume", "gpus": gpus}
        http.post("/api/v1/pool/actions", json=body, headers={"Referer": address}).raise_for_status()
    figures["a socket's poll of the database"] = timed(digests, num_rounds)
    return figures


def history_figures(address: str, seeded: Seeded, num_rounds: int) -> dict[str, Figures]:
    """Pages over thirty days with `NUM_USES` uses, and a day of minutes of one GPU."""
    seed_history(NUM_USES)
    gpu = Gpu.objects.order_by("node__name", "index").values_list("pk", flat=True)[0]
    now = timezone.now()
    window = {"since": (now - timedelta(days=DAYS)).isoformat(), "until": now.isoformat()}
    paths: dict[str, tuple[str, dict[str, str]]] = {
        "GET occupancy": ("occupancy", {**window, "buckets": "120"}),
        "GET usage by project": ("usage", window),
        "GET usage/days by project": ("usage/days", window),
        "GET gpus/{id}/minutes, 12 hours": (f"gpus/{gpu}/minutes", {}),
        "GET gpus/{id}/uses": (f"gpus/{gpu}/uses", {"limit": "50"}),
        "GET audit, by action": ("audit", {"action": "gpu.", "limit": "50"}),
    }
    figures: dict[str, Figures] = {}
    with client(address, seeded) as http:
        for name, (path, query) in paths.items():
            answer = http.get(f"/api/v1/{path}", params=query).raise_for_status()
            figures[f"{name}, {LaneUse.objects.count():,} uses" if "gpus" not in name else name] = {
                "bytes": len(answer.content),
                **timed(lambda path=path, query=query: http.get(f"/api/v1/{path}", params=query), num_rounds),  # type: ignore[misc]
            }
    return figures


class Agent:
    """Posts reports of every GPU, as a node agent does."""

    def __init__(self, address: str, seeded: Seeded, num_nodes: int, num_gpus: int) -> None:
        self._http = httpx.Client(base_url=address, headers=seeded.agent_headers, timeout=30)
        self._size = num_nodes, num_gpus
        self._number = 0

    def post(self) -> None:
        self._number += 1
        body = node_reports(*self._size, self._number).model_dump_json()
        answer = self._http.post(REPORTS_PATH, content=body, headers={"Content-Type": "application/json"})
        answer.raise_for_status()


def frame_figures(address: str, seeded: Seeded, num_nodes: int, num_gpus: int, num_rounds: int) -> dict[str, Figures]:
    agent = Agent(address, seeded, num_nodes, num_gpus)
    cookies = "; ".join(f"{name}={value}" for name, value in seeded.session.items())
    headers = {"Cookie": cookies, "Origin": address}
    socket_address = address.replace("http", "ws", 1) + "/ws/v1/pool"
    with connect(socket_address, additional_headers=headers, max_size=None) as socket:
        socket.recv(FRAME_SECONDS)
        waits, sizes, packed = [], [], []
        for _ in range(num_rounds):
            agent.post()
            done = time.perf_counter()
            text = _next_live(socket, num_nodes * num_gpus)
            waits.append((time.perf_counter() - done) * 1000)
            sizes.append(len(text))
            packed.append(len(zlib.compress(text.encode())))
            # Frames are sent at most twice a second: the next post must not wait for that.
            time.sleep(POST_SECONDS)
    return {
        "POST of an agent with every GPU": timed(agent.post, num_rounds),
        "a frame with every GPU's live values": {
            "bytes": round(statistics.median(sizes)),
            "deflated_bytes": round(statistics.median(packed)),
            "ms_after_the_post": statistics.median(waits),
        },
    }


def _next_live(socket: ClientConnection, num_gpus: int) -> str:
    """The next frame that has live values of every GPU."""
    while True:
        text = str(socket.recv(FRAME_SECONDS))
        if len(json.loads(text)["gpus"]["ids"]) == num_gpus:
            return text


def page_figures(address: str, seeded: Seeded, num_nodes: int, num_gpus: int, num_rounds: int) -> dict[str, Figures]:
    agent = Agent(address, seeded, num_nodes, num_gpus)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": name, "value": value, "url": address} for name, value in seeded.session.items()])
        context.add_init_script(WATCH_TASKS)
        page = context.new_page()
        began = time.perf_counter()
        page.goto(f"{address}/pool")
        page.wait_for_selector(".cell.gpu.allocated")
        opened = {"ms": (time.perf_counter() - began) * 1000, **_long_tasks(page)}
        figures: dict[str, Figures] = {"page: opened": opened}
        for colouring in ("State", "Utilisation"):
            page.get_by_role("button", name=colouring, exact=True).click()
            figures[f"page: an update, coloured by {colouring.lower()}"] = _updates(page, agent, num_rounds)
        page.locator(".cell.gpu").first.click()
        figures["page: an update, with an inspector open"] = _updates(page, agent, num_rounds)
        browser.close()
    return figures


def _long_tasks(page: Page) -> Figures:
    """Those since the last call: tasks of over 50 ms."""
    tasks: list[int] = page.evaluate("window.tasks.splice(0)")
    return {"num_long_tasks": len(tasks), "longest_task_ms": max(tasks, default=0)}


def _updates(page: Page, agent: Agent, num_rounds: int) -> Figures:
    """CPU time of the main thread for an update, and the long tasks of all of them, which other load makes longer."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.wait_for_timeout(1000)
    _long_tasks(page)
    before = _task_seconds(session)
    for _ in range(num_rounds):
        agent.post()
        page.wait_for_timeout(POST_SECONDS * 1000)
    per_update = (_task_seconds(session) - before) * 1000 / num_rounds
    session.detach()
    return {"cpu_ms": per_update, **_long_tasks(page)}


def _task_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))
