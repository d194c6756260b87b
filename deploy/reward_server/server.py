"""A remote scorer in one file: serves a function of yours over Tandem's protocol (deploy/docs/guides/rewards.md).

    python deploy/reward_server/server.py --scorer my_scorer.py --port 8900

Stands alone: it needs numpy and Pillow, and msgpack for that format, so it runs in the environment that the scorer
needs. The token is read from `REWARD_SERVER_TOKEN`; without one every request is served, on the local machine only.
"""

import argparse
import base64
import hmac
import importlib.util
import inspect
import io
import json
import os
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

VERSION = 1
MAX_BODY_BYTES = 512 * 2**20
NUM_PLAIN_PARAMETERS = 2
"""Of a score function that does not ask for `Details`: the sample and its prompt."""
Details = dict[str, Any]
"""What a prompt has beside its text: `prompt_id`, `negative`, `metadata`, and `pictures` as arrays (H, W, 3)."""
ScoreFunction = Callable[[NDArray[np.uint8], str, Details], float]
BatchFunction = Callable[[list[NDArray[np.uint8]], list[str], list[Details]], Sequence[float]]
"""Scores all samples of a request at once, mostly those of one prompt, in one pass of a network."""


class Refused(Exception):
    """Answered with `status` instead of results."""

    def __init__(self, status: int, reason: str, retry_after_seconds: int | None = None) -> None:
        super().__init__(reason)
        self.status, self.retry_after_seconds = status, retry_after_seconds


class RewardServer(ThreadingHTTPServer):
    """Scores at most `max_requests` requests at once. Others wait in line for up to `max_wait_seconds`, then are
    answered with 503, which the other side tries again a few times only."""

    daemon_threads = True

    def __init__(
        self,
        address: tuple[str, int],
        score: ScoreFunction,
        token: str | None,
        max_requests: int,
        max_wait_seconds: float,
        score_batch: BatchFunction | None = None,
    ) -> None:
        super().__init__(address, Handler)
        self.score, self.score_batch, self.token = score, score_batch, token
        self.free = threading.BoundedSemaphore(max_requests)
        self.max_wait_seconds = max_wait_seconds

    def answer(self, document: Any) -> dict[str, Any]:
        """The answer to one request. Raises `Refused`."""
        if not isinstance(document, dict) or document.get("version") != VERSION:
            raise Refused(400, f"version must be {VERSION}")
        samples = document.get("samples")
        if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
            raise Refused(400, "samples must be a list of objects")
        pictures = document.get("pictures", [])
        if not self.free.acquire(timeout=self.max_wait_seconds):
            raise Refused(503, "busy", retry_after_seconds=1)
        try:
            return {"version": VERSION, "results": self._results(samples, pictures)}
        except MemoryError as error:
            raise Refused(503, "out of memory", retry_after_seconds=1) from error
        finally:
            self.free.release()

    def _results(self, samples: list[dict[str, Any]], pictures: list[Any]) -> list[dict[str, Any]]:
        """One for each sample. Where a batch cannot be scored, its samples are scored one by one, so that only the
        broken ones are errors."""
        if self.score_batch is not None and samples:
            try:
                decoded = [(_decoded(sample), sample["prompt"], _details(sample, pictures)) for sample in samples]
                scores = [float(score) for score in self.score_batch(*map(list, zip(*decoded, strict=True)))]
                if len(scores) != len(samples):
                    raise ValueError(f"score_batch must return {len(samples)} scores, got {len(scores)}")
                return [{"score": score} for score in scores]
            except MemoryError:
                raise
            except Exception as error:
                print(f"a batch of {len(samples)} is scored one by one: {type(error).__name__}: {error}", flush=True)
        return [self._result(sample, pictures) for sample in samples]

    def _result(self, sample: dict[str, Any], pictures: list[Any]) -> dict[str, Any]:
        try:
            return {"score": float(self.score(_decoded(sample), sample["prompt"], _details(sample, pictures)))}
        except MemoryError:
            raise
        except Exception as error:  # whatever a scorer raises is that sample's error: the others have their scores
            return {"error": f"{type(error).__name__}: {error}", "retry": isinstance(error, OSError)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RewardServer

    def do_POST(self) -> None:
        try:
            body = self._body()
            self._check_token()
            is_json = self.headers.get_content_type() == "application/json"
            answer = self.server.answer(_unpacked(body, is_json=is_json))
        except Refused as refused:
            extra = {} if refused.retry_after_seconds is None else {"Retry-After": str(refused.retry_after_seconds)}
            self._send(refused.status, json.dumps({"error": str(refused)}).encode(), "application/json", extra)
            return
        self._send(200, _packed(answer, is_json=is_json), self.headers.get_content_type(), {})

    def do_GET(self) -> None:
        """For load balancers and people: the server is up."""
        self._send(200, json.dumps({"version": VERSION}).encode(), "application/json", {})

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True  # nobody knows where the next request begins
            raise Refused(411, "Content-Length must be given")
        num_bytes = int(length)
        if num_bytes > MAX_BODY_BYTES:
            self.close_connection = True  # what was not read would be taken for the next request
            raise Refused(413, f"a request must be at most {MAX_BODY_BYTES} bytes, got {num_bytes}")
        return self.rfile.read(num_bytes)

    def _check_token(self) -> None:
        wanted = self.server.token
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if wanted is not None and not hmac.compare_digest(given.encode(), wanted.encode()):
            raise Refused(401, "the token is not the server's")

    def _send(self, status: int, body: bytes, kind: str, extra: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **extra}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _unpacked(body: bytes, *, is_json: bool) -> Any:
    try:
        if is_json:
            return json.loads(body)
        import msgpack

        return msgpack.unpackb(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body cannot be read: {error}") from error


def _packed(answer: dict[str, Any], *, is_json: bool) -> bytes:
    if is_json:
        return json.dumps(answer).encode()
    import msgpack

    packed: bytes = msgpack.packb(answer)
    return packed


def _decoded(sample: dict[str, Any]) -> NDArray[np.uint8]:
    """A picture (H, W, 3) or a clip (F, H, W, 3)."""
    if "frames" in sample:
        return np.stack([_picture(frame) for frame in sample["frames"]])
    return _picture(sample["image"])


def _details(sample: dict[str, Any], pictures: list[Any]) -> Details:
    """All of a prompt but its text. Raises `LookupError` for a picture that the request does not hold."""
    return {
        "prompt_id": sample.get("prompt_id", ""),
        "negative": sample.get("negative"),
        "metadata": sample.get("metadata", {}),
        "pictures": [_picture(pictures[index]) for index in sample.get("pictures", [])],
    }


def _picture(png: bytes | str) -> NDArray[np.uint8]:
    content = base64.b64decode(png) if isinstance(png, str) else png
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), dtype=np.uint8)


def load_functions(path: Path) -> tuple[ScoreFunction, BatchFunction | None]:
    """The functions of a Python file: `score` of sample and prompt, or of sample, prompt and `Details`; and, or
    instead, `score_batch` of lists of the three."""
    spec = importlib.util.spec_from_file_location("scorer", path)
    assert spec is not None and spec.loader is not None, "a path to a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    batch: BatchFunction | None = getattr(module, "score_batch", None)
    if batch is not None and not hasattr(module, "score"):
        return lambda sample, prompt, details: batch([sample], [prompt], [details])[0], batch
    found: Callable[..., float] = module.score
    if len(inspect.signature(found).parameters) > NUM_PLAIN_PARAMETERS:
        return found, batch
    return lambda sample, prompt, details: found(sample, prompt), batch


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a scorer over Tandem's scoring protocol.")
    parser.add_argument("--scorer", type=Path, default=Path(__file__).with_name("example_scorer.py"))
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900, help="0 takes a free one")
    parser.add_argument("--max-requests", type=int, default=4, help="scored at once")
    parser.add_argument("--max-wait", type=float, default=60.0, help="seconds in line before a request is sent away")
    asked = parser.parse_args()
    token = os.environ.get("REWARD_SERVER_TOKEN") or None
    if token is None and asked.host not in ("127.0.0.1", "localhost", "::1"):
        parser.error("set REWARD_SERVER_TOKEN before serving to other machines")
    address = (asked.host, asked.port)
    score, score_batch = load_functions(asked.scorer)
    server = RewardServer(address, score, token, asked.max_requests, asked.max_wait, score_batch)
    print(f"scoring with {asked.scorer.name} at http://{asked.host}:{server.server_address[1]}/score", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
