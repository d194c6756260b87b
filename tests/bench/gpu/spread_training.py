"""A forward and backward pass on one card, and over all cards of a lane: every one of them makes it, as those of a
trainer lane do."""

import statistics
from dataclasses import dataclass

import torch

from tests.bench.engine_pairs import in_turns
from tests.bench.gpu.bench_models import Prediction
from tests.bench.gpu.bench_report import Row
from worker.contracts.context_parallel import training_problem
from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter

INPUT_SEED = 5
"""All ranks train on the same noise."""


@dataclass(frozen=True, slots=True)
class TrainingPass:
    """One pass of a model with LoRA layers on one sample; no block is recomputed."""

    adapter: ModelAdapter
    prediction: Prediction

    def __call__(self) -> None:
        for parameter in self.adapter.trainable.values():
            parameter.grad = None
        self.prediction.predict(self.adapter).square().mean().backward()

    def seconds(self, repeats: int) -> float:
        return statistics.median(in_turns(repeats, self)[0].wall)

    def gradient(self) -> torch.Tensor:
        """The flat gradient of the last pass: of a rank of several, the part that its tokens have."""
        parameters = self.adapter.trainable.values()
        return torch.cat([_gradient(parameter).flatten() for parameter in parameters])


def _gradient(parameter: torch.nn.Parameter) -> torch.Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.detach().clone()


def trained_together(training: TrainingPass, alone: tuple[float, torch.Tensor] | None, size: int, repeats: int) -> Row:
    """The row of a pass that is spread over `size` cards; called on every rank, with what rank 0 took `alone`."""
    seconds = training.seconds(repeats)
    gradient = training.gradient()
    torch.distributed.all_reduce(gradient)
    if alone is None:
        return {}
    alone_seconds, expected = alone
    return {
        "training_alone_seconds": alone_seconds,
        "training_seconds": seconds,
        "training_share_of_ideal": alone_seconds / seconds / size,
        "gradient_distance": float((gradient - expected).norm() / expected.norm()),
    }


def can_be_trained(spec: RunSpec, size: int) -> bool:
    return training_problem(spec, size) is None
