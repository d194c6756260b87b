"""The measurements of `tests.bench.dashboard`. Django must be set up before this is imported."""

import gzip
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Page, sync_playwright
from websockets.sync.client import connect

from accounts.models import Project, User
from runs.models import Run
from tests.bench.percentiles import p95
from tests.bench.pool_figures import CHROMIUM, client, page_figures, served, timed
from tests.bench.seeded_pool import Seeded, seed
from tests.bench.seeded_telemetry import TOKEN, Size, last_seq, seed_list, seed_run

NUM_NODES, GPUS_OF_A_NODE = 64, 8
NUM_ROWS = 100
SETTLE_MILLISECONDS = 3000
"""After which what the page reads later has arrived."""
NUM_FRAMES = 120
FRAME_SECONDS = 20.0
Figures = dict[str, float]

WATCH_PAGE = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
const look = () => {
  const drawn = document.querySelectorAll(".chart-card canvas").length;
  if (drawn >= 4) window.drawnAt = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
FRAMES = """
({ act, numFrames }) => new Promise((resolve) => {
  const canvas = document.querySelector(".timeline canvas");
  const box = canvas.getBoundingClientRect();
  const at = { clientX: box.left + box.width / 2, clientY: box.top + 60, bubbles: true, cancelable: true };
  const times = [];
  let before = performance.now();
  let nth = 0;
  const frame = (now) => {
    times.push(now - before);
    before = now;
    if (act === "zoom") {
      const deltaY = nth % 60 < 30 ? -60 : 60;
      canvas.dispatchEvent(new WheelEvent("wheel", { ...at, ctrlKey: true, deltaY }));
    }
    if (act === "pan") {
      const deltaX = nth % 60 < 30 ? 40 : -40;
      canvas.dispatchEvent(new WheelEvent("wheel", { ...at, ctrlKey: true, deltaX, deltaY: 0 }));
    }
    nth += 1;
    if (nth < numFrames) requestAnimationFrame(frame);
    else resolve(times.slice(1));
  };
  requestAnimationFrame(frame);
})
"""
LOADED_SCRIPTS = """
[...new Set(performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.endsWith(".js")))]
"""
SHOWN = """
(text) => new Promise((resolve) => {
  const look = () => {
    const legend = document.querySelector('section[aria-label="Reward"] .legend');
    if (legend && legend.textContent.includes(text)) resolve(Date.now());
    else requestAnimationFrame(look);
  };
  look();
})
"""


def measure(
    var: Path, port: int, *, num_rounds: int, num_runs: int, num_viewers: int, parts: Sequence[str]
) -> Iterator[Figures]:
    """Seed the web, then yield the figures of each part as soon as they are taken."""
    with served(var, port) as address:
        seeded = seed(NUM_NODES, GPUS_OF_A_NODE)
        admin, project = User.objects.get(username="admin"), Project.objects.get(name="Shapes")
        seed_list(admin, project, num_runs, NUM_ROWS)
        run = seed_run(admin, project, Size())
        if "server" in parts:
            yield server_figures(address, seeded, run, num_rounds)
        if "page" in parts:
            with opened(address, seeded) as context:
                yield run_page_figures(address, context, run)
        if "live" in parts:
            with opened(address, seeded) as context:
                yield live_figures(address, seeded, context, run, num_rounds, num_viewers)
        if "pool" in parts:
            update = page_figures(address, seeded, NUM_NODES, GPUS_OF_A_NODE, num_rounds)
            coloured = update["page: an update, coloured by utilisation"]
            yield {"512 GPUs: an update of the page, ms": coloured["cpu_ms"]}


@contextmanager
def opened(address: str, seeded: Seeded) -> Iterator[BrowserContext]:
    """A browser with a session, whose pages watch themselves."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": name, "value": value, "url": address} for name, value in seeded.session.items()])
        context.add_init_script(WATCH_PAGE)
        yield context
        browser.close()


def server_figures(address: str, seeded: Seeded, run: Run, num_rounds: int) -> Figures:
    """What a client waits for each answer, on a machine where nothing else asks."""
    middle = run.num_batches_done // 2
    with client(address, seeded) as http:
        rows = http.get("/api/v1/runs", params={"limit": NUM_ROWS}).raise_for_status().json()["results"]
        first = http.get(f"/api/v1/runs/{run.pk}/timeline", params={"limit": 6000}).raise_for_status().json()
        begin, end = first["spans"][0]["start"], first["spans"][-1]["end"]
        window = {"from": (begin + end) / 2, "to": (begin + end) / 2 + 70, "limit": 6000}
        keys = "reward/mean,reward/std,eval/reward,policy/kl"
        asked: dict[str, tuple[str, dict[str, Any]]] = {
            "four curves of 20,000 points, ms": (f"runs/{run.pk}/metrics", {"keys": keys, "max_points": 500}),
            "a window of a curve, ms": (
                f"runs/{run.pk}/metrics",
                {"keys": "reward/mean", "max_points": 500, "from_step": middle, "to_step": middle + 2000},
            ),
            "timeline of 200,000 spans: whole, ms": (f"runs/{run.pk}/timeline", {"limit": 6000}),
            "timeline of 200,000 spans: a window of 70 s, ms": (f"runs/{run.pk}/timeline", window),
            "states of 64 lanes in 600 buckets: whole, ms": (f"runs/{run.pk}/lane-states", {"buckets": 600}),
            "states of 64 lanes in 600 buckets: a window of 70 s, ms": (
                f"runs/{run.pk}/lane-states",
                {"from": window["from"], "to": window["to"], "buckets": 600},
            ),
            "staleness of 20,000 batches in 500 columns, ms": (f"runs/{run.pk}/staleness", {"max_columns": 500}),
            "runs list of 10,000: rows, ms": ("runs", {"limit": NUM_ROWS}),
            "runs table of 10,000: a page at 9,000 within a tag, ms": (
                "runs:table",
                {"tag": "sweep", "offset": 9000, "limit": NUM_ROWS},
            ),
            "runs table of 10,000: the same, grouped by tag, ms": (
                "runs:table",
                {"tag": "sweep", "group": "tag", "offset": 9000, "limit": NUM_ROWS},
            ),
            "runs list of 10,000: sparklines, ms": ("runs:sparklines", {"ids": ",".join(row["id"] for row in rows)}),
        }
        figures: Figures = {}
        for name, (path, query) in asked.items():
            answer = http.get(f"/api/v1/{path}", params=query).raise_for_status()
            taken = timed(lambda path=path, query=query: http.get(f"/api/v1/{path}", params=query), num_rounds)  # type: ignore[misc]
            figures[name] = taken["ms"]
            figures[name.replace(", ms", ", kB")] = len(answer.content) / 1000
    return figures


def run_page_figures(address: str, context: BrowserContext, run: Run) -> Figures:
    # The first visit compiles and fills the server's caches; a reader's is the second, with an empty browser cache.
    for _ in range(2):
        page = context.new_page()
        received = _count_bytes(page)
        page.goto(f"{address}/runs/{run.pk}")
        page.wait_for_selector(".timeline-box canvas:visible")
        page.wait_for_timeout(SETTLE_MILLISECONDS)
        interactive = page.evaluate("window.drawnAt")
        shift, num_bytes = page.evaluate("window.shift"), sum(received)
        scripts = page.evaluate(LOADED_SCRIPTS)
        if interactive is None:
            raise RuntimeError("the run page did not draw its four curves")
    frames = {act: p95(page.evaluate(FRAMES, {"act": act, "numFrames": NUM_FRAMES})) for act in ("idle", "zoom", "pan")}
    gzipped = sum(len(gzip.compress(httpx.get(script).content)) for script in scripts)
    page.close()
    return {
        "run page: interactive, ms": float(interactive),
        "run page: received, kB": num_bytes / 1000,
        "run page: layout shift": float(shift),
        "run page: JavaScript of the first load, gzipped kB": gzipped / 1000,
        "timeline: p95 frame of an idle page, ms": frames["idle"],
        "timeline: p95 frame while zooming and panning, × idle": max(frames["zoom"], frames["pan"]) / frames["idle"],
    }


def _count_bytes(page: Page) -> list[int]:
    """The bytes of each answer, as they came over the network."""
    received: list[int] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.on("Network.loadingFinished", lambda event: received.append(int(event["encodedDataLength"])))
    return received


def live_figures(
    address: str, seeded: Seeded, context: BrowserContext, run: Run, num_rounds: int, num_viewers: int
) -> Figures:
    """From the answer to a driver's post to the pixel, while sockets of other viewers get the same frames."""
    page = context.new_page()
    page.goto(f"{address}/runs/{run.pk}")
    page.wait_for_selector('section[aria-label="Reward"] canvas')
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    waits: list[float] = []
    step = run.num_batches_done
    seq = last_seq(step)
    with watching(address, seeded, run, num_viewers - 1), httpx.Client(base_url=address) as driver:
        driver.headers["Authorization"] = f"Bearer {TOKEN}"
        for turn in range(num_rounds + 1):
            seq, step, value = seq + 1, step + 1, round(2 + turn / 1000, 3)
            event = {"seq": seq, "at": time.time(), "type": "metrics", "batch": step, "optimizer_step": step}
            body = {"events": [{**event, "values": {"reward/mean": value}}]}
            driver.post(f"/api/ingest/v1/runs/{run.pk}/attempts/1/events", json=body).raise_for_status()
            committed = time.time() * 1000
            waits.append(float(page.evaluate(SHOWN, f"{value:g}")) - committed)
            page.wait_for_timeout(300)
    return {
        "100 viewers: median from commit to pixel, ms": statistics.median(waits[1:]),
        "100 viewers: p95 from commit to pixel, ms": p95(waits[1:]),
    }


@contextmanager
def watching(address: str, seeded: Seeded, run: Run, number: int) -> Iterator[None]:
    """So many sockets that follow the run, each read by a thread."""
    cookies = "; ".join(f"{name}={value}" for name, value in seeded.session.items())
    after = last_seq(run.num_batches_done)
    path = f"{address.replace('http', 'ws', 1)}/ws/v1/runs/{run.pk}?after_seq={after}"
    headers = {"Cookie": cookies, "Origin": address}
    with ExitStack() as opened_sockets:
        for _ in range(number):
            # A busy machine may answer a ping late: that is no reason to lose a viewer.
            socket = opened_sockets.enter_context(
                connect(path, additional_headers=headers, max_size=None, ping_interval=None, open_timeout=FRAME_SECONDS)
            )
            threading.Thread(target=list, args=(socket,), daemon=True).start()
        yield
