"""The pictures of a fragment on their way through a scorer's network: prepared on several threads, a batch ahead of it.

Invariant: a batch holds `pictures_per_call` consecutive pictures, whatever the number of threads, and each picture is
prepared by itself, so that scores do not depend on the machine's cores. Where the device has no memory for a batch, it
goes through in parts, which changes scores by rounding.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from worker.engine.devices.smaller_calls import SmallerCalls
from worker.engine.reward.cancellation import check_cancelled
from worker.engine.reward.networks import memory_plan
from worker.engine.reward.scored_run import ScoredRun

ADVICE = (
    "lower `pictures_per_call` in the reward's `settings`, have rewards computed elsewhere by `lanes.rewards_on`, or "
    "take devices with more memory"
)

Passed = Callable[[slice, torch.Tensor], torch.Tensor]
"""Rows of a fragment, their pictures (N, 3, height, width) on the network's device → their scores (N,)."""


class PictureBatches:
    """Prepares pictures for one network."""

    def __init__(
        self,
        processor: Callable[..., Any],
        pictures_per_call: int,
        *,
        reward: str,
        run: ScoredRun | None = None,
        before: Callable[[NDArray[np.uint8]], NDArray[np.uint8]] | None = None,
    ) -> None:
        """
        Args:
            processor: transformers' processor of pictures.
            pictures_per_call: pictures of a batch.
            reward: name of the reward, for reports.
            run: for the figures of its plan.
            before: what a picture (H, W, 3) goes through first; by default nothing.
        """
        self._processor, self._before = processor, before
        self._pictures_per_call = pictures_per_call
        # PIL gives Python's lock away while it resizes.
        work = f"pass {{}} pictures through the network of reward `{reward}`"
        self._calls = SmallerCalls(memory_plan(run), work, advice=ADVICE)
        self._threads = ThreadPoolExecutor(torch.get_num_threads(), thread_name_prefix="pictures")

    def scores(self, images: NDArray[np.uint8], network: torch.nn.Module, passed: Passed) -> NDArray[np.float64]:
        """The scores (N,) of pictures (N, H, W, 3), as the vision tower of `network` takes them, from `passed`.

        Raises:
            ScoringCancelledError: between batches, where nobody waits for them any more.
            DeviceMemoryError: for too little memory even for one picture, or in a deterministic run.
        """
        weight = next(network.get_submodule("vision_model").parameters())
        found = [np.zeros(0)]
        for part, prepared in self._prepared(images):

            def call(rows: Sequence[int], part: slice = part, prepared: torch.Tensor = prepared) -> NDArray[np.float64]:
                own = slice(rows[0], rows[-1] + 1)
                pictures = prepared[own.start - part.start : own.stop - part.start]
                return passed(own, pictures.to(weight.device, weight.dtype)).double().cpu().numpy()

            found += self._calls(range(part.start, part.stop), call)
        return np.concatenate(found)

    def _prepared(self, images: NDArray[np.uint8]) -> Iterator[tuple[slice, torch.Tensor]]:
        """The rows of each batch and its pictures on the host; the next one is prepared meanwhile."""
        starts = range(0, len(images), self._pictures_per_call)
        parts = [slice(start, min(start + self._pictures_per_call, len(images))) for start in starts]
        ahead = [self._begin(images[part]) for part in parts[:1]]
        for number, part in enumerate(parts):
            check_cancelled()
            if number + 1 < len(parts):
                ahead.append(self._begin(images[parts[number + 1]]))
            yield part, torch.cat([picture.result() for picture in ahead.pop(0)])

    def _begin(self, images: NDArray[np.uint8]) -> list[Future[torch.Tensor]]:
        return [self._threads.submit(self._prepare, image) for image in images]

    def _prepare(self, image: NDArray[np.uint8]) -> torch.Tensor:
        picture = image if self._before is None else self._before(image)
        prepared: torch.Tensor = self._processor(images=[picture], return_tensors="pt")["pixel_values"]
        return prepared
