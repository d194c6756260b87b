"""The pictures of a fragment on their way to a scorer's network: prepared on several threads, a batch ahead of it.

Invariant: a batch holds `pictures_per_call` consecutive pictures, whatever the number of threads, and each picture is
prepared by itself, so that scores do not depend on the machine's cores.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from worker.engine.reward.cancellation import check_cancelled


class PictureBatches:
    """Prepares pictures for one network."""

    def __init__(
        self,
        processor: Callable[..., Any],
        pictures_per_call: int,
        before: Callable[[NDArray[np.uint8]], NDArray[np.uint8]] | None = None,
    ) -> None:
        """
        Args:
            processor: transformers' processor of pictures.
            pictures_per_call: pictures of a batch.
            before: what a picture (H, W, 3) goes through first; by default nothing.
        """
        self._processor, self._before = processor, before
        self._pictures_per_call = pictures_per_call
        # PIL gives Python's lock away while it resizes.
        self._threads = ThreadPoolExecutor(torch.get_num_threads(), thread_name_prefix="pictures")

    def of(self, images: NDArray[np.uint8], network: torch.nn.Module) -> Iterator[tuple[slice, torch.Tensor]]:
        """The rows of each batch, and its pictures (N, 3, height, width) as the vision tower of `network` takes them.
        The next batch is prepared while the caller passes one. Raises `ScoringCancelledError` between batches."""
        weight = next(network.get_submodule("vision_model").parameters())
        starts = range(0, len(images), self._pictures_per_call)
        parts = [slice(start, min(start + self._pictures_per_call, len(images))) for start in starts]
        ahead = [self._begin(images[part]) for part in parts[:1]]
        for number, part in enumerate(parts):
            check_cancelled()
            if number + 1 < len(parts):
                ahead.append(self._begin(images[parts[number + 1]]))
            prepared = torch.cat([picture.result() for picture in ahead.pop(0)])
            yield part, prepared.to(weight.device, weight.dtype)

    def _begin(self, images: NDArray[np.uint8]) -> list[Future[torch.Tensor]]:
        return [self._threads.submit(self._prepare, image) for image in images]

    def _prepare(self, image: NDArray[np.uint8]) -> torch.Tensor:
        picture = image if self._before is None else self._before(image)
        prepared: torch.Tensor = self._processor(images=[picture], return_tensors="pt")["pixel_values"]
        return prepared
