"""What an `accumulate` saw, summed on the device and fetched once: a fetch per micro-batch would stall it."""

import math

import torch

from worker.engine.errors import NonFiniteError
from worker.engine.metrics.replay_gate import MEAN_ERROR, REPLAY_RATIO_DEVIATION
from worker.engine.metrics.update_metrics import RATIO_DEVIATION
from worker.engine.trainer.learners.learner import PreparedGroup
from worker.engine.trainer.learners.replay import Replayed
from worker.engine.types import UpdateStats
from worker.scheduling.core.batching import MicroBatch


class UpdateStatsSum:
    """Collects micro-batches of weight 1; padding is not counted."""

    def __init__(self) -> None:
        self._num_pairs = 0
        self._seen: list[tuple[PreparedGroup, MicroBatch, torch.Tensor]] = []
        self._sums: dict[str, torch.Tensor] = {}
        self._maxima: dict[str, torch.Tensor] = {}

    @torch.no_grad()
    def add(self, held: PreparedGroup, micro: MicroBatch, replayed: Replayed) -> None:
        losses = replayed.losses.detach()
        self._num_pairs += len(micro.pairs)
        self._seen.append((held, micro, losses))
        self._add("loss", losses.sum())
        if replayed.ratios is not None:
            self._add("ratio", replayed.ratios.sum())
            self._raise_to(RATIO_DEVIATION, (replayed.ratios - 1).abs().max())
        if replayed.clipped is not None:
            self._add("clipped", replayed.clipped.sum().float())
        if replayed.kl is not None:
            self._add("kl", replayed.kl.sum())
            self._add("kl_pairs", replayed.kl.new_tensor(len(replayed.kl)))
        if replayed.gate is not None:
            self._raise_to(REPLAY_RATIO_DEVIATION, replayed.gate.ratio_deviation)
            if replayed.gate.mean_error is not None:
                self._raise_to(MEAN_ERROR, replayed.gate.mean_error)

    def stats(self) -> UpdateStats:
        """The sums as numbers.

        Raises:
            NonFiniteError: naming the first pair whose loss is not finite.
        """
        sums, maxima = _fetch(self._sums), _fetch(self._maxima)
        if not math.isfinite(sums.get("loss", 0.0)):
            self._raise_for_loss()
        return UpdateStats(num_pairs=self._num_pairs, sums=sums, maxima=maxima)

    def _raise_for_loss(self) -> None:
        for held, micro, losses in self._seen:
            for offset in (~torch.isfinite(losses)).nonzero().flatten().tolist():
                raise NonFiniteError("loss", held.place(micro.pairs[offset]), float(losses[offset]))

    def _add(self, name: str, value: torch.Tensor) -> None:
        self._sums[name] = self._sums[name] + value if name in self._sums else value

    def _raise_to(self, name: str, value: torch.Tensor) -> None:
        self._maxima[name] = torch.maximum(self._maxima[name], value) if name in self._maxima else value


def _fetch(values: dict[str, torch.Tensor]) -> dict[str, float]:
    if not values:
        return {}
    return dict(zip(values, torch.stack(list(values.values())).tolist(), strict=True))
