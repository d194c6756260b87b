"""What it takes to read the whole of a long run over REST: as Arrow, and as JSON, which holds at most 5,000 points of a
curve. Django must be set up before this is imported."""

import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Self

import httpx
import psutil

from runs.models import Run

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"
_MIB = 2**20
_SAMPLE_SECONDS = 0.02
_READS = {
    JSON: "import sys, json; json.load(sys.stdin.buffer)",
    ARROW: "import sys, pyarrow; pyarrow.ipc.open_stream(sys.stdin.buffer.read()).read_all().to_pandas()",
}
"""What a reader does then; each is timed in a process of its own, without its start."""
Figures = dict[str, float]


def export_figures(address: str, token: str, run: Run) -> dict[str, Figures]:
    """Bytes and seconds of each export of this run, and what the web's memory grew by while it was sent."""
    asked = {
        "export: every point as Arrow": ("metrics", ARROW, {}),
        "export: 5,000 points of each curve as Arrow": ("metrics", ARROW, {"max_points": 5000}),
        "export: 5,000 points of each curve as JSON": ("metrics", JSON, {"max_points": 5000}),
        "export: every span as Arrow": ("timeline", ARROW, {}),
        "export: 20,000 spans as Arrow": ("timeline", ARROW, {"limit": 20_000}),
        "export: 20,000 spans as JSON": ("timeline", JSON, {"limit": 20_000}),
    }
    return {
        name: _export(f"{address}/api/v1/runs/{run.pk}/{path}", token, media_type, query)
        for name, (path, media_type, query) in asked.items()
    }


def _export(url: str, token: str, media_type: str, query: dict[str, int]) -> Figures:
    headers = {"Authorization": f"Bearer {token}", "Accept": media_type}
    with httpx.Client(headers=headers, timeout=300) as http, _Memory() as memory:
        began = time.perf_counter()
        with http.stream("GET", url, params=query) as answer:
            answer.raise_for_status()
            body = b"".join(answer.iter_bytes())
            num_bytes = answer.num_bytes_downloaded
        seconds = time.perf_counter() - began
    return {
        "MiB sent": num_bytes / _MIB,
        "seconds": seconds,
        "seconds to read": _seconds_to_read(body, media_type),
        "MiB the web grew": memory.growth / _MIB,
    }


def _seconds_to_read(body: bytes, media_type: str) -> float:
    timed = f"import time, io, sys; import pyarrow.ipc, pandas; began = time.perf_counter(); {_READS[media_type]}"
    timed += "; print(time.perf_counter() - began)"
    return float(subprocess.run([sys.executable, "-c", timed], input=body, capture_output=True, check=True).stdout)


class _Memory:
    """How far the web's memory rises above what it was, by samples."""

    def __init__(self) -> None:
        children = psutil.Process().children(recursive=True)
        self._web = next(child for child in children if any("uvicorn" in word for word in child.cmdline()))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.growth = 0

    def __enter__(self) -> Self:
        self._before = self._now()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_SECONDS):
            self.growth = max(self.growth, self._now() - self._before)

    def _now(self) -> int:
        return int(self._web.memory_info().rss)
