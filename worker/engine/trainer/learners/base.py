"""What a learner is: it prepares complete groups and computes the loss of their micro-batches, whatever is trained on.

```text
GroupBatch ─ prepare ─► PreparedGroup, with one index for each unit
                              │
MicroBatch (unit indices) ────┴─ call ─► MicroBatchLoss
```

A unit is what the algorithm trains on: a stored transition, a sample at a noise level, a preference pair at a noise
level, or a sample to be finished with gradients. Invariant: a unit's loss does not depend on the rank that computes it,
nor, but for rounding, on the other units of its micro-batch.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

import torch

from worker.contracts.prompts import Prompt
from worker.engine.models.conditioning import Conditioning
from worker.engine.trainer.learners.mean_errors import MeanErrors
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch


class GateMode(Enum):
    """Which policy replays the stored transitions for the replay gate."""

    OFF = auto()
    CURRENT_POLICY = auto()
    """The policy being trained, which is still the one that drew the data; its replay is computed anyway, so all
    transitions are compared."""
    BEHAVIOUR_POLICY = auto()
    """The older version that drew stale data, bound from its published bytes; it replays monitored micro-batches only,
    since each costs a forward pass."""


class ProximalSource(Enum):
    """Where the log-ratios of the proximal to the behaviour policy come from, which stale pairs are clipped with."""

    NONE = auto()
    """Pairs are clipped around the policy that drew them."""
    CURRENT_POLICY = auto()
    """The policy being trained is the proximal one: no optimizer step was taken on the batch."""
    RECORDED = auto()
    """They were recorded when the same pairs were trained on before."""
    REPLAYED = auto()
    """The proximal policy, kept in place of the behaviour policy, replays the micro-batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProximalInput:
    """What a micro-batch of B pairs is given of the proximal policy."""

    source: ProximalSource = ProximalSource.NONE
    log_ratios: torch.Tensor | None = None
    """(B,): the recorded log-ratios, for `ProximalSource.RECORDED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateMetrics:
    """How far a replay is from what sampling stored, over one micro-batch; the ratio's is a scalar tensor."""

    ratio_deviation: torch.Tensor
    """max |ratio − 1|."""
    mean_errors: MeanErrors | None
    """`None` where the trajectories carry no means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatchLoss:
    """The losses of one micro-batch of B units, and detached quantities for the curves."""

    losses: torch.Tensor
    """(B,): the loss of each unit, with gradient."""
    ratios: torch.Tensor | None = None
    """(B,): importance ratios to the behaviour policy, where the algorithm has them."""
    clipped: torch.Tensor | None = None
    """(B,) bool: whether the unit's ratio was clipped, where the algorithm has ratios."""
    kl: torch.Tensor | None = None
    """(B,): the KL divergence to the reference policy; `None` where it was not computed."""
    proximal_log_ratios: torch.Tensor | None = None
    """(B,): log-ratios of the proximal to the behaviour policy, where the pairs are clipped around the former."""
    gate: GateMetrics | None = None
    """The replay gate's metrics; `None` where the gate is off or the micro-batch is not monitored."""


class PreparedGroup(Protocol):
    """A group, or what this rank was given of it, ready to be trained micro-batch by micro-batch."""

    @property
    def prompt(self) -> Prompt: ...

    def describe(self, unit: int) -> str:
        """The position of a unit in the run (group, member, …), for error messages."""
        ...


class Learner(Protocol):
    def conditioning(self, prompt: Prompt) -> Conditioning:
        """What predictions for `prompt` are conditioned on in training."""
        ...

    def prepare(self, group: GroupBatch) -> Any:
        """The group as the `PreparedGroup` that `__call__` takes.

        Raises:
            ValueError: when the group's fragments and advantages do not agree.
            NonFiniteError: for an advantage that is not finite.
        """
        ...

    def __call__(
        self,
        prepared: Any,
        micro: MicroBatch,
        conditioning: Conditioning,
        /,
        *,
        gate: GateMode,
        is_monitored: bool,
        proximal: ProximalInput,
    ) -> MicroBatchLoss:
        """The losses of one micro-batch.

        Args:
            prepared: the group, from `prepare`.
            micro: the units, by index into `prepared`.
            conditioning: of the group's prompt.
            gate: which policy replays for the replay gate.
            is_monitored: also run the forward passes that only monitor: the KL, where it is not trained on, and the
                gate's replay of stale data.
            proximal: where the proximal policy's log-ratios come from; only replayed transitions have any.
        """
        ...
