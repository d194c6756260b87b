"""The messages of the remote scoring protocol, version 1: a request with samples, an answer with a result for each.

`deploy/docs/guides/rewards.md` describes the protocol for authors of servers. Invariant: an answer that does not hold
exactly one number or one error for every sample, in order, is refused as a whole.
"""

import base64
import io
import json
import math
from collections.abc import Sequence
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from worker.contracts.names import RemoteFormat
from worker.engine.reward.base import RewardResult, ScorerUnavailableError

PROTOCOL_VERSION = 1
CONTENT_TYPES = {RemoteFormat.JSON: "application/json", RemoteFormat.MSGPACK: "application/msgpack"}
MAX_ERROR_CHARACTERS = 300
"""The most characters kept of a sample's error: enough for a sentence that a page shows."""


def encode_request(
    images: NDArray[np.uint8], prompts: Sequence[str], *, scorer: str, request_id: str, form: RemoteFormat
) -> bytes:
    """Pictures (N, H, W, 3) or clips (N, F, H, W, 3) as PNGs, with their prompts."""
    samples = [{"prompt": prompt} | _media(image, form) for image, prompt in zip(images, prompts, strict=True)]
    document = {"version": PROTOCOL_VERSION, "id": request_id, "scorer": scorer, "samples": samples}
    if form is RemoteFormat.JSON:
        return json.dumps(document).encode()
    packed: bytes = msgpack.packb(document)
    return packed


def decode_answer(body: bytes, form: RemoteFormat, num_samples: int) -> RewardResult:
    """The results of `num_samples` samples.

    A score that is NaN or infinite becomes that sample's error; errors that say `"retry": true` are retryable.

    Raises:
        ScorerUnavailableError: when the answer violates the protocol.
    """
    document = _parsed(body, form)
    version = document.get("version")
    if version != PROTOCOL_VERSION:
        raise _refused(f"`version` must be {PROTOCOL_VERSION}, got {version!r}")
    results = document.get("results")
    if not isinstance(results, list) or len(results) != num_samples:
        got = f"{len(results)} results" if isinstance(results, list) else type(results).__name__
        raise _refused(f"`results` must be a list of {num_samples}, one for each sample, got {got}")
    scores, errors, retryable = np.full(num_samples, np.nan), list[str | None]([None] * num_samples), set[int]()
    for index, result in enumerate(results):
        error, score = _one(result, index)
        if error is not None:
            errors[index] = error[:MAX_ERROR_CHARACTERS]
            if result.get("retry") is True:
                retryable.add(index)
        else:
            scores[index] = score
    decoded = RewardResult.from_array(scores, errors)
    return RewardResult(decoded.scores, decoded.errors, frozenset(retryable))


def _media(image: NDArray[np.uint8], form: RemoteFormat) -> dict[str, Any]:
    """A picture (H, W, 3), or the frames of a clip (F, H, W, 3)."""
    return {"frames": [_png(frame, form) for frame in image]} if image.ndim == 4 else {"image": _png(image, form)}


def _one(result: Any, index: int) -> tuple[str | None, float]:
    """The error or the score of the result at `index`."""
    if not isinstance(result, dict) or ("score" in result) == ("error" in result):
        raise _refused(f"`results[{index}]` must hold either `score` or `error`, got {str(result)[:100]}")
    if "error" in result:
        return str(result["error"] or "") or "the scorer gave no reason", math.nan
    score = result["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise _refused(
            f"`results[{index}].score` must be a number, got {str(score)[:100]}: report a failure as `error`"
        )
    try:
        return None, float(score)
    except OverflowError:  # JSON's integers have no bound.
        return None, math.inf


def _parsed(body: bytes, form: RemoteFormat) -> dict[str, Any]:
    try:
        document = json.loads(body) if form is RemoteFormat.JSON else msgpack.unpackb(body)
    except (ValueError, RecursionError, msgpack.UnpackException) as error:
        raise _refused(f"it is no {form.value}: {error}") from error
    if not isinstance(document, dict):
        raise _refused(f"it must be an object, got {type(document).__name__}")
    return document


def _refused(why: str) -> ScorerUnavailableError:
    return ScorerUnavailableError(f"the scorer's answer does not follow the protocol: {why}", is_transient=False)


def _png(image: NDArray[np.uint8], form: RemoteFormat) -> bytes | str:
    buffer = io.BytesIO()
    # Low compression is faster, and the network is rarely the bottleneck.
    Image.fromarray(image).save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue() if form is RemoteFormat.MSGPACK else base64.b64encode(buffer.getvalue()).decode()
