"""`ocr`: how well the picture shows the text that the prompt puts between double quotes.

score = 1 − min(edit distance, L) / L, where L is the length of the wanted text; 1 when the text that was read contains
it. Spaces and case are ignored. Formula: Flow-GRPO's OCR reward (arXiv 2505.05470, github.com/yifan123/flow_grpo).
Pictures are read with RapidOCR, whose models are part of its package: nothing is downloaded. A lane with several CPU
threads reads as many pictures at once, each with one thread, so that scores do not depend on their number.

Threads, not processes: of the CPU time of a reading 91 % is spent in onnxruntime, outside Python's lock (24 pictures of
512², profiled by thread time on a busy machine, 25 November 2026), so that eleven threads would have to read at once
before they wait for the lock. A process for each would hold the libraries once more.
"""

import os
import re
import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray
from rapidocr import RapidOCR
from rapidocr.ch_ppocr_det.utils import ResizeImgError as DetectorResizeError
from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError
from rapidocr.utils.output import RapidOCROutput
from rapidocr.utils.process_img import ResizeImgError

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import OcrSettings
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.cancellation import check_cancelled

_UNREADABLE = (ResizeImgError, DetectorResizeError, ONNXRuntimeError)
"""The errors that RapidOCR raises for a picture that it cannot process, e.g. one many times as wide as high."""
MAX_READERS = 16
"""A reader holds some 100 MB, and 16 read a fragment of 16 pictures at once."""
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")


class Ocr:
    """The reward."""

    name = RewardName.OCR.value

    def __init__(self, settings: OcrSettings, num_threads: int | None = None) -> None:
        """Read with `num_threads`, by default those that the lane was granted (`OMP_NUM_THREADS`)."""
        granted = int(os.environ.get("OMP_NUM_THREADS") or 1) if num_threads is None else num_threads
        num_readers = min(granted, MAX_READERS)
        self._readers: SimpleQueue[RapidOCR] = SimpleQueue()
        """Those that read no picture now; a reader is for one thread at a time."""
        for _ in range(num_readers):
            self._readers.put(_reader(settings))
        self._threads = ThreadPoolExecutor(num_readers, thread_name_prefix="ocr")

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size; a prompt without quoted text, or a picture that cannot be
        processed, is an error of that sample. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)
        scores = np.full(len(prompts), np.nan)
        errors: list[str | None] = [None] * len(prompts)
        wanted = [wanted_text(prompt.text) for prompt in prompts]
        # Each in this call's context, in which it can be cancelled.
        read = [
            self._threads.submit(copy_context().run, self._read, image) if wanted[row] else None
            for row, image in enumerate(images)
        ]
        for row, (prompt, call) in enumerate(zip(prompts, read, strict=True)):
            if call is None:
                errors[row] = f"the prompt must hold the wanted text between double quotes, got {prompt!r}"
                continue
            try:
                scores[row] = similarity(wanted[row], call.result())
            except _UNREADABLE as error:
                errors[row] = f"the picture cannot be read: {type(error).__name__} {error}".rstrip()
        return RewardResult.from_array(scores, errors)

    def _read(self, image: NDArray[np.uint8]) -> str:
        """The text in a picture (H, W, 3), normalised."""
        check_cancelled()
        reader = self._readers.get()
        try:
            # RapidOCR expects BGR.
            output = reader(np.ascontiguousarray(image[..., ::-1]))
        finally:
            self._readers.put(reader)
        assert isinstance(output, RapidOCROutput), "detection and recognition are both switched on"
        return _normalised("".join(output.txts or ()))


def _reader(settings: OcrSettings) -> RapidOCR:
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Det.limit_side_len": settings.shortest_side,
            "Det.limit_type": "min",
            # One thread, since several pictures are read at once, or a machine runs many lanes.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def wanted_text(prompt: str) -> str:
    """All text between double quotes, in order, without spaces and in lower case."""
    return _normalised("".join(_QUOTED.findall(prompt)))


def similarity(wanted: str, read: str) -> float:
    """1 where `read` contains `wanted`; else it falls with the edit distance, to 0 at the length of `wanted`."""
    if wanted in read:
        return 1.0
    return 1.0 - min(edit_distance(wanted, read), len(wanted)) / len(wanted)


def edit_distance(left: str, right: str) -> int:
    """The Levenshtein distance: the fewest insertions, deletions and substitutions from one text to the other."""
    row = list(range(len(right) + 1))
    for row_number, letter in enumerate(left, start=1):
        diagonal, row[0] = row[0], row_number
        for column, other in enumerate(right, start=1):
            above, before = row[column], row[column - 1]
            diagonal, row[column] = above, min(above + 1, before + 1, diagonal + (letter != other))
    return row[-1]


def _normalised(text: str) -> str:
    """Text in Unicode's compatibility form, without case and spaces."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
