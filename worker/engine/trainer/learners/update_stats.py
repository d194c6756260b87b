"""The statistics of one `accumulate`, summed on the device and fetched once: a fetch per micro-batch would stall it."""

import math

import torch

from worker.engine.errors import NonFiniteError
from worker.engine.metrics.replay_gate import MEAN_ERROR, REPLAY_RATIO_DEVIATION, SQUARED_MEAN_ERROR
from worker.engine.metrics.update_metrics import RATIO_DEVIATION
from worker.engine.trainer.learners.base import MicroBatchLoss, PreparedGroup
from worker.engine.types import UpdateStats
from worker.scheduling.core.batching import MicroBatch


class UpdateStatsAccumulator:
    """Adds up micro-batches; its caller leaves padding (weight 0) out."""

    def __init__(self) -> None:
        self._num_pairs = 0
        self._losses: list[tuple[PreparedGroup, MicroBatch, torch.Tensor]] = []
        self._sums: dict[str, torch.Tensor] = {}
        self._maxima: dict[str, torch.Tensor] = {}
        self._counts: torch.Tensor | None = None
        """The histogram of the replay gate's errors."""

    @torch.no_grad()
    def add(self, prepared: PreparedGroup, micro: MicroBatch, result: MicroBatchLoss) -> None:
        """Count one micro-batch of the group `prepared` in."""
        losses = result.losses.detach()
        self._num_pairs += len(micro.pairs)
        self._losses.append((prepared, micro, losses))
        self._add("loss", losses.sum())
        if result.ratios is not None:
            self._add("ratio", result.ratios.sum())
            self._raise_to(RATIO_DEVIATION, (result.ratios - 1).abs().max())
        if result.clipped is not None:
            self._add("clipped", result.clipped.sum().float())
        if result.kl is not None:
            self._add("kl", result.kl.sum())
            self._add("kl_pairs", result.kl.new_tensor(len(result.kl)))
        if result.gate is not None:
            self._raise_to(REPLAY_RATIO_DEVIATION, result.gate.ratio_deviation)
            if (errors := result.gate.mean_errors) is not None:
                self._raise_to(MEAN_ERROR, errors.largest)
                self._add(SQUARED_MEAN_ERROR, errors.sum_of_squares)
                self._counts = errors.counts if self._counts is None else self._counts + errors.counts

    def result(self) -> UpdateStats:
        """The sums as numbers.

        Raises:
            NonFiniteError: naming the first pair whose loss is not finite.
        """
        sums, maxima = _fetch(self._sums), _fetch(self._maxima)
        if not math.isfinite(sums.get("loss", 0.0)):
            self._raise_for_loss()
        histograms = {} if self._counts is None else {MEAN_ERROR: tuple(self._counts.tolist())}
        return UpdateStats(num_pairs=self._num_pairs, sums=sums, maxima=maxima, histograms=histograms)

    def _raise_for_loss(self) -> None:
        for prepared, micro, losses in self._losses:
            for offset in (~torch.isfinite(losses)).nonzero().flatten().tolist():
                raise NonFiniteError("loss", prepared.describe(micro.pairs[offset]), float(losses[offset]))

    def _add(self, name: str, value: torch.Tensor) -> None:
        self._sums[name] = self._sums[name] + value if name in self._sums else value

    def _raise_to(self, name: str, value: torch.Tensor) -> None:
        self._maxima[name] = torch.maximum(self._maxima[name], value) if name in self._maxima else value


def _fetch(values: dict[str, torch.Tensor]) -> dict[str, float]:
    """Scalars on the device as numbers, in one transfer."""
    if not values:
        return {}
    return dict(zip(values, torch.stack(list(values.values())).tolist(), strict=True))
