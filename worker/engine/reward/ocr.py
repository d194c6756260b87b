"""`ocr`: is the text that the prompt puts between double quotes written in the picture?

score = 1 − min(edit distance, L) / L, where L is the length of the wanted text; 1 when the wanted text is contained in
what was read. Spaces and case do not count. Formula: Flow-GRPO's OCR reward (arXiv 2505.05470, github.com/yifan123/
flow_grpo). Read with RapidOCR, whose models come inside its package: nothing is downloaded.
"""

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidocr import RapidOCR
from rapidocr.ch_ppocr_det.utils import ResizeImgError as DetectorResizeError
from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError
from rapidocr.utils.output import RapidOCROutput
from rapidocr.utils.process_img import ResizeImgError

from worker.contracts.names import RewardName
from worker.contracts.rewards import OcrSettings
from worker.engine.reward.base import RewardResult, check_batch

_UNREADABLE = (ResizeImgError, DetectorResizeError, ONNXRuntimeError)
"""What the reader raises over a picture that it cannot take, e.g. one many times as wide as high."""
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")


class Ocr:
    name = RewardName.OCR.value

    def __init__(self, settings: OcrSettings) -> None:
        self._reader = RapidOCR(
            params={
                "Global.log_level": "error",
                "Det.limit_side_len": settings.shortest_side,
                "Det.limit_type": "min",
                # A reward lane is one of many on its machine.
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        """Score uint8 images (N, H, W, 3); a prompt without quoted text, or a picture that the reader cannot take, is
        that sample's error.

        Raises:
            ValueError: on arrays that are no pictures.
        """
        check_batch(images, prompts)
        scores = np.full(len(prompts), np.nan)
        errors: list[str | None] = [None] * len(prompts)
        for row, (image, prompt) in enumerate(zip(images, prompts, strict=True)):
            wanted = wanted_text(prompt)
            if not wanted:
                errors[row] = f"the prompt must hold the wanted text between double quotes, got {prompt!r}"
                continue
            try:
                scores[row] = similarity(wanted, self._read(image))
            except _UNREADABLE as error:
                errors[row] = f"the picture cannot be read: {type(error).__name__} {error}".rstrip()
        return RewardResult.from_array(scores, errors)

    def _read(self, image: NDArray[np.uint8]) -> str:
        # The reader takes pictures as OpenCV has them: blue first.
        found = self._reader(np.ascontiguousarray(image[..., ::-1]))
        assert isinstance(found, RapidOCROutput), "neither stage was switched off"
        return _plain("".join(found.txts or ()))


def wanted_text(prompt: str) -> str:
    """What stands between double quotes, all of it in order, without spaces and in lower case."""
    return _plain("".join(_QUOTED.findall(prompt)))


def similarity(wanted: str, read: str) -> float:
    """1 where `wanted` is contained in `read`, else falling with the edit distance, to 0 at `wanted`'s length."""
    if wanted in read:
        return 1.0
    return 1.0 - min(edit_distance(wanted, read), len(wanted)) / len(wanted)


def edit_distance(left: str, right: str) -> int:
    """Levenshtein's: the fewest insertions, deletions and substitutions from one to the other."""
    row = list(range(len(right) + 1))
    for above, letter in enumerate(left, start=1):
        diagonal, row[0] = row[0], above
        for place, other in enumerate(right, start=1):
            diagonal, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, diagonal + (letter != other))
    return row[-1]


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
