"""Where reward lanes compute scorers' networks, if a spec leaves it open (`lanes.rewards_on: auto`).

    spec, devices ─┬─► on CPU cores     ─► costs ─► the least seconds of a batch ─┐
                   └─► on shared cards  ─► costs ─► the least seconds of a batch ─┴─► the smaller, with its reason

Seconds are the limits of the modes that the spec allows, in closed form, of the spec's own split where it has one. On a
shared card scoring adds to the work of the lanes that generate; on cores it has lanes of its own, which a batch may
have to wait for. Invariants: shared cards are chosen only where lanes then fit in memory; the same input gives the same
choice; what a user has chosen stays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from worker.contracts.names import Placement, RewardDevice
from worker.contracts.rewards import WeightsSettings
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.cost_estimates import PoolCosts, pool_costs
from worker.scheduling.planning.memory import scorers_bytes
from worker.scheduling.planning.mode_limits import ModeLimits, Split
from worker.scheduling.planning.modes import MODES, PlanningMode, allowed_modes, name_of
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, GB, Accelerator


@dataclass(frozen=True, slots=True)
class ScoringChoice:
    """A spec whose reward lanes have their device."""

    spec: RunSpec
    reason: str
    """Why they have it, a sentence; empty where the user chose it."""
    card_bytes: float = 0.0
    """Bytes that a reward lane takes of the card that it shares."""


def scoring_choice(spec: RunSpec, devices: Sequence[Accelerator]) -> ScoringChoice:
    """The choice for lanes that generate or train on these devices, one for each."""
    shared = spec.scoring_on(RewardDevice.SHARED_GPU)
    work = Workload.of(shared)
    card_bytes = max(scorers_bytes(work, device) for device in devices)
    asked = spec.lanes.rewards_on
    if asked is not RewardDevice.AUTO:
        return ScoringChoice(spec, "", card_bytes if asked is RewardDevice.SHARED_GPU else 0.0)
    on_cores = spec.scoring_on(RewardDevice.CPU)
    if not work.shares_cards:
        return ScoringChoice(on_cores, "Rewards are computed on CPU slots: none of them has a network.")
    if any(device.name == CPU_CORE.name for device in devices):
        return ScoringChoice(on_cores, "Rewards are computed on CPU slots: there are lanes without a GPU.")
    cores, cards = _Scoring.of(on_cores, devices), _Scoring.of(shared, devices)
    if not math.isfinite(cards.batch_seconds):
        held = f"{card_bytes / GB:.1f} GB"
        return ScoringChoice(
            on_cores, f"Rewards are computed on CPU slots: no card has memory for their networks too ({held})."
        )
    sample = f"a sample takes {cards.sample_seconds:.2g} s there and {cores.sample_seconds:.2g} s on a lane's CPU cores"
    batch = f"a batch at least {cards.batch_seconds:.3g} s and {cores.batch_seconds:.3g} s"
    timeout = _shortest_timeout(spec)
    if cores.fragment_seconds > timeout:
        why = f"{sample}, where a fragment would exceed its time-out of {timeout:.0f} s"
    elif cards.batch_seconds < cores.batch_seconds:
        why = f"{sample}, {batch}"
    else:
        lost = f"sharing a card, {card_bytes / GB:.1f} GB of it, costs lanes that generate more than it gains"
        return ScoringChoice(on_cores, f"Rewards are computed on CPU slots, since {lost}: {sample}, {batch}.")
    held = f"with {card_bytes / GB:.1f} GB of its memory"
    return ScoringChoice(shared, f"Rewards share the GPU of a lane that generates, {held}: {why}.", card_bytes)


@dataclass(frozen=True, slots=True)
class _Scoring:
    """What a way to score is predicted to take, in seconds."""

    sample_seconds: float
    fragment_seconds: float
    batch_seconds: float
    """The least of a batch; infinite where the lanes lack memory."""

    @classmethod
    def of(cls, spec: RunSpec, devices: Sequence[Accelerator]) -> "_Scoring":
        work = Workload.of(spec)
        costs = pool_costs(work, devices, num_reward=spec.lanes.num_reward)
        score = costs.score
        return cls(
            score.per_unit, score.seconds(work.algebra.fragment_size), _batch_seconds(spec, work, costs, devices)
        )


def _batch_seconds(spec: RunSpec, work: Workload, costs: PoolCosts, devices: Sequence[Accelerator]) -> float:
    limits = ModeLimits(
        work=work,
        costs=costs,
        devices=devices,
        fragment_sizes=[work.algebra.fragment_size],
        advantage_std=spec.algorithm.advantage_std,
    )
    if spec.pipeline.placement is Placement.AUTO:
        return min(limits.least_seconds(_without_hiding(mode)) for mode in allowed_modes(spec.pipeline))
    (mode,) = (mode for mode in MODES if mode.name == name_of(spec.pipeline))
    return _seconds_of_split(spec, limits, _without_hiding(mode))


def _without_hiding(mode: PlanningMode) -> PlanningMode:
    """Colocated lanes that train once all is scored: how fast cores score is an assumption, and what training would
    hide of it shows where they are slower."""
    return replace(mode, gap=mode.gap and not mode.is_colocated)


def _seconds_of_split(spec: RunSpec, limits: ModeLimits, mode: PlanningMode) -> float:
    """Those of the spec's own split. On cards of several kinds, which of them train is not known: the best split's."""
    if limits.kinds.number.size > 1:
        return limits.least_seconds(mode)
    split = Split((spec.granted_lanes.num_trainer,), limits.fragment_sizes[0])
    return limits.limit(mode, split, lends=spec.pipeline.trainers_generate)


def _shortest_timeout(spec: RunSpec) -> float:
    return min(reward.timeout_seconds for reward in spec.rewards if isinstance(reward.settings, WeightsSettings))
