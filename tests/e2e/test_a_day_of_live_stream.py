"""A page that is watched for a day: what 24 hours of a run's reports leave in its memory.

A driver's events of a day come through the real ingest and the real websocket, as fast as they are taken. The server's
rows and the page's requests are those of a real run; only the clock between two batches is left out.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.stack import ROOT, free_port
from tests.e2e.waits import SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HOUR_SECONDS = 3600.0
BATCH_SECONDS = 20.0
BATCHES_A_POST = 30
"""Ten minutes of the run: an hour is 6 posts, and the page keeps up with them."""
FIRST_HOURS, HOURS = 5, 24
MAX_GROWTH = 0.20
LANES = {"rollout-0": "generate", "rollout-1": "generate", "trainer-0": "train", "reward-0": "score"}
SPANS_A_LANE = 4
SAMPLES = 24
SEEDED_BATCHES = 100
"""That the run of `tests.e2e.streamed_run` has done before the driver begins."""
SLOWDOWN = 6
"""Of the page's processor time, as on a busy laptop: entries come faster than their list is drawn."""
SETTLE_SECONDS = 5.0
"""After which a page has read what the newest reports made it read."""


@dataclass
class StreamingDriver:
    """The driver of the one run of `tests.e2e.streamed_run`."""

    address: str
    run: str
    token: str
    session: dict[str, str]
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60))
    began: float = field(default_factory=lambda: time.time() - HOURS * HOUR_SECONDS)
    seq: int = 0
    batch: int = SEEDED_BATCHES

    def report_hours(self, hours: float) -> None:
        """Everything that the run reports in so many hours of its own."""
        last = self.batch + round(hours * HOUR_SECONDS / BATCH_SECONDS)
        while self.batch < last:
            events = [event for _ in range(BATCHES_A_POST) for event in self._next_batch()]
            self._post(events)

    def _post(self, events: list[dict[str, Any]]) -> None:
        numbered = [{**event, "seq": self.seq + 1 + index} for index, event in enumerate(events)]
        answer = self.client.post(
            f"{self.address}/api/ingest/v1/runs/{self.run}/attempts/1/events",
            headers={"Authorization": f"Bearer {self.token}"},
            json={"events": numbered},
        )
        assert answer.status_code == httpx.codes.OK, answer.text
        self.seq = answer.json()["acknowledged"]

    def _next_batch(self) -> Iterator[dict[str, Any]]:
        self.batch += 1
        batch, end = self.batch, self.began + self.batch * BATCH_SECONDS
        common = {"at": end, "batch": batch}
        values = {f"eval/part/reward_{index}": batch % 7 / 7 for index in range(6)}
        own = {"reward/mean": 0.5, "reward/std": 0.1, "policy/kl": 0.01, "speed/batch_seconds": BATCH_SECONDS}
        yield {**common, "type": "metrics", "optimizer_step": batch, "values": {**values, **own}}
        yield {"at": end, "type": "spans", "spans": list(self._spans(end))}
        yield {**common, "type": "queues", "depths": {"ready": batch % 5, "score": batch % 3}}
        yield {**common, "type": "staleness", "counts": {"0": 20, "1": 4}}
        yield {**common, "type": "samples", "purpose": "train", "policy_version": batch, "samples": self._samples()}
        for source in ("driver", *LANES):
            message = f"batch {batch}: all is well with {source}"
            yield {"at": end, "type": "log", "level": "info", "source": source, "message": message}
        published = {"policy_version": batch, "num_bytes": 9, "num_tensors": 1, "sha256": "0" * 64, "seconds": 0.1}
        yield {"at": end, "type": "publish", **published}

    def _spans(self, end: float) -> Iterator[dict[str, Any]]:
        """Lanes at work all the time."""
        long = BATCH_SECONDS / SPANS_A_LANE
        begin = end - long * SPANS_A_LANE
        for lane, kind in LANES.items():
            for index in range(SPANS_A_LANE):
                start = begin + index * long
                yield {"lane": lane, "kind": kind, "start": start, "end": start + long, "batch": self.batch}

    def _samples(self) -> list[dict[str, Any]]:
        return [
            {
                "prompt": "a red square",
                "prompt_id": "red",
                "prompt_index": 0,
                "member": member,
                "seed": member,
                "artifact": f"samples/train/{self.batch:06d}/000-{member:03d}.png",
                "rewards": {"shape_match": 0.5},
                "reward": 0.5,
            }
            for member in range(SAMPLES)
        ]


@contextmanager
def streaming_driver(folder: Path) -> Iterator[StreamingDriver]:
    command = [sys.executable, "-m", "tests.e2e.streamed_run", str(folder), str(free_port())]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    try:
        line = next((line for line in process.stdout if line.startswith("{")), None)
        assert line, "the web did not come up; its log is above"
        driver = StreamingDriver(**json.loads(line))
        driver.client.cookies.update(driver.session)
        curves = driver.client.get(f"{driver.address}/api/v1/runs/{driver.run}/metrics?keys=reward/mean")
        driver.seq = curves.json()["stream_seq"]
        yield driver
    finally:
        process.stdin.close()
        process.wait(60)


def heap_bytes(page: Page) -> float:
    """What the page's script holds once its garbage is collected."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.enable")
    devtools.send("HeapProfiler.collectGarbage")
    used = devtools.send("Runtime.getHeapUsage")["usedSize"]
    devtools.detach()
    return float(used)


def open_run(browser: Browser, driver: StreamingDriver, tab: str) -> Page:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    for name, value in driver.session.items():
        context.add_cookies([{"name": name, "value": value, "url": driver.address}])
    page = context.new_page()
    page.goto(f"{driver.address}/runs/{driver.run}#{tab}")
    progress(page).wait_for()
    return page


def progress(page: Page) -> Locator:
    return page.locator(".run-progress b").first


def shows_its_newest_entry(page: Page, driver: StreamingDriver) -> None:
    newest = page.locator(".log-entry").last
    expect(newest).to_contain_text(f"batch {driver.batch}: all is well with reward-0", timeout=60 * SECONDS)
    expect(newest).to_be_in_viewport()


@pytest.fixture(autouse=True)
def nothing_left_running() -> None:
    """The run is in a web of its own, which ends with it."""


@pytest.mark.timeout(1800)
def test_a_day_of_live_stream_leaves_pages_as_small_as_its_first_hours(browser: Browser, tmp_path: Path) -> None:
    with streaming_driver(tmp_path) as driver:
        pages = {tab: open_run(browser, driver, tab) for tab in ("overview", "logs")}
        sizes: dict[str, list[float]] = {tab: [] for tab in pages}
        for hours in (FIRST_HOURS, HOURS - FIRST_HOURS):
            driver.report_hours(hours)
            for tab, page in pages.items():
                expect(progress(page)).to_have_text(str(driver.batch), timeout=60 * SECONDS)
                page.wait_for_timeout(SETTLE_SECONDS * SECONDS)
                sizes[tab].append(heap_bytes(page))
            shows_its_newest_entry(pages["logs"], driver)
        for page in pages.values():
            page.context.close()
    for tab, (first, last) in sizes.items():
        print(f"{tab}: {first / 2**20:.1f} MiB after {FIRST_HOURS} h, {last / 2**20:.1f} MiB after {HOURS} h")
    for tab, (first, last) in sizes.items():
        assert last < (1 + MAX_GROWTH) * first, tab


@pytest.mark.timeout(600)
def test_a_slow_page_shows_the_newest_entries_until_its_reader_scrolls_up(browser: Browser, tmp_path: Path) -> None:
    with streaming_driver(tmp_path) as driver:
        page = open_run(browser, driver, "logs")
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        driver.report_hours(2)
        shows_its_newest_entry(page, driver)

        to_newest = page.locator(".log-newest")
        expect(to_newest).to_have_count(0)
        page.get_by_role("log").hover()
        page.mouse.wheel(0, -2000)
        expect(to_newest).to_have_text("To the newest")
        read = page.locator(".log-entry").nth(12).get_attribute("data-seq")
        driver.report_hours(1)
        expect(to_newest).to_contain_text("new", timeout=60 * SECONDS)
        page.wait_for_timeout(SETTLE_SECONDS * SECONDS)
        expect(page.locator(f".log-entry[data-seq='{read}']")).to_be_in_viewport()

        to_newest.click()
        shows_its_newest_entry(page, driver)
        driver.report_hours(1)
        shows_its_newest_entry(page, driver)

        page.locator(".log-entry .log-text").nth(-3).click()
        expect(to_newest).to_be_visible()
        page.get_by_role("log").press("End")
        expect(to_newest).to_have_count(0)
        driver.report_hours(1)
        shows_its_newest_entry(page, driver)
        page.context.close()
