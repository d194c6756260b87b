"""The model that a rollout lane generates with, on each of its GPUs, and what stands for the GPUs beyond the first."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.devices.selection import apply_determinism
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embeddings import Embeddings
from worker.engine.models.pipeline_loading import WITHOUT_TEXT, Part
from worker.engine.models.registry import load_model
from worker.engine.types import PublishedVersion, PullReceipt


class Followers(Protocol):
    """The GPUs of a lane beyond the first, which make their parts of its predictions."""

    @property
    def size(self) -> int:
        """The number of GPUs of the lane, the first one included."""

    def join(self, model: ModelAdapter) -> None:
        """Spread the predictions of rank 0's `model`, which is loaded, over the followers, once they are."""

    def bind(
        self, own: Callable[[], PullReceipt], version: PublishedVersion, *, evaluated: bool = False
    ) -> PullReceipt:
        """Bind `version` on every follower while `own` binds it here; raises unless all read back the same."""

    def following(self) -> AbstractContextManager[None]:
        """Inside the context the model predicts on all GPUs; outside it does not predict at all."""


def load_generation_model(
    spec: RunSpec,
    base_model_path: str,
    device: str | torch.device | None = None,
    embeddings: Embeddings | None = None,
    *,
    parts: frozenset[Part] = WITHOUT_TEXT,
) -> ModelAdapter:
    """A model of `parts` that is prepared for what the spec trains; arguments and errors as in `Sampler.load`."""
    apply_determinism(spec)
    model = load_model(
        spec.base_model,
        base_model_path,
        device=device,
        parts=parts,
        embeddings=embeddings,
        sampling=spec.sampling,
        performance=spec.kernels,
    )
    model.prepare_training(spec)
    return model
