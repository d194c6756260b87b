"""Resolves `placement: auto` into a concrete spec when lanes are allocated; a plan revision records the reason.

    free lanes by device ─► mixes of devices (`fleet.allocation.device_mixes`) ─► a plan for each ─► the fastest

Invariant: the run keeps the spec that its user gave, and an attempt's concrete spec is decided before its lanes are
allocated. An attempt that resumes from a checkpoint keeps the choice under which the checkpoint was written, unless a
resize has changed the number of lanes since.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fleet.allocation.device_mixes import gang_alike, mixes
from fleet.device_profiles import profile_name
from fleet.pools.lane_prices import mean_lane_prices
from fleet.selectors import CPU, pool_devices
from runs.models import Run
from runs.planning.device_order import best_first
from runs.planning.plan_body import PlanBody, PlanPreview
from runs.planning.plan_cache import ChosenPlan, PlanningFailed, planned
from runs.planning.usable_devices import trains_on, usable
from worker.contracts.names import Placement, RewardDevice
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.scoring_choice import scoring_choice
from worker.scheduling.profiles.known_devices import accelerator


@dataclass(frozen=True, slots=True)
class ResolvedPlacement:
    """The concrete spec of an attempt with the devices of its lanes, and the plan behind it if the planner chose."""

    spec: RunSpec
    trainers: Counter[str] = field(default_factory=Counter)
    """Number of trainer lanes by device."""
    rollouts: Counter[str] = field(default_factory=Counter)
    plan: PlanBody | None = None
    reason: str = ""
    """Why this plan, in one sentence; empty without a plan."""

    def with_rewards_on_cpu(self, num_reward: int) -> "ResolvedPlacement":
        """The same with so many reward lanes on CPU slots, where none is free beside the cards that they would share;
        the plan's costs are then those of shared cards until the run has measured its own."""
        lanes = self.spec.lanes.model_copy(update={"num_reward": num_reward})
        spec = self.spec.model_copy(update={"lanes": lanes}).scoring_on(RewardDevice.CPU)
        reason = f"{self.reason}; rewards are computed on CPU slots, since none is free beside its cards"
        return replace(self, spec=spec, reason=reason if self.plan is not None else "")

    def with_trainers_at(self, positions: list[int]) -> "ResolvedPlacement":
        """The same with the positions, among the lanes that generate or train in the pool's order, of the trainers."""
        return self if self.plan is None else replace(self, plan={**self.plan, "trainers": positions})


def choose(run: Run, free: Mapping[str, int]) -> ResolvedPlacement | None:
    """The concrete spec of the run's next attempt, given the number of free lanes that can generate or train by device;
    None if they do not suffice.

    Raises `PlanningFailed` if the run can be planned on none of them; `PlanBeingMade` while another process makes a
    plan that is needed; the caller should retry later.
    """
    asked = run.sized_spec
    free = usable(asked, free)
    order = best_first(asked, free)
    if asked.pipeline.placement is not Placement.AUTO:
        return _settled(ResolvedPlacement(asked), free, order)
    before = run.plan_revisions.last() if run.resume_from else None
    if before is not None and _num_lanes(before.spec) == asked.lanes.num_rollout + asked.lanes.num_trainer:
        reason = f"goes on from batch {run.resume_batch} as before"
        kept = ResolvedPlacement(RunSpec.model_validate(before.spec), plan=before.plan, reason=reason)
        return _settled(kept, free, sorted(order, key=lambda device: device not in before.plan["devices"]))
    found = _fastest(asked, free, wait=False)
    if found is None:
        return None
    devices, made = found.devices, found.plan
    trainers = Counter(devices[position] for position in made.body["trainers"])
    return ResolvedPlacement(
        made.applied_to(asked), trainers, Counter(devices) - trainers, made.body, found.reason(free)
    )


def _settled(placement: ResolvedPlacement, free: Mapping[str, int], order: list[str]) -> ResolvedPlacement | None:
    """A placement that is chosen already, with devices for its lanes, and where they score."""
    wanted = placement.spec.granted_lanes
    trains = trains_on(placement.spec)
    found = gang_alike(free, wanted.num_trainer, wanted.num_rollout, order, trains=trains)
    if found is None:
        return None
    spec = with_scoring(placement.spec, [*(found[0] + found[1]).elements()])
    return replace(placement, spec=spec, trainers=found[0], rollouts=found[1])


def with_scoring(spec: RunSpec, devices: Sequence[str]) -> RunSpec:
    """The spec with `lanes.rewards_on: auto` decided for lanes on these devices; on cards that nothing is known of,
    rewards take no memory."""
    profiles = [profile_name(device) for device in devices]
    known = [accelerator(name) for name in profiles if name is not None]
    if spec.lanes.rewards_on is RewardDevice.AUTO and (not known or len(known) < len(profiles)):
        return spec.scoring_on(RewardDevice.CPU)
    return scoring_choice(spec, known).spec if known else spec


@dataclass(frozen=True, slots=True)
class _Fastest:
    """The fastest of several plans."""

    devices: list[str]
    """Of the lanes that generate or train, as the plan counts them."""
    plan: ChosenPlan
    next_best: tuple[list[str], float] | None
    """The devices of the plan that comes next, and its share of the fastest one's samples per second."""
    num_choices: int

    def reason(self, free: Mapping[str, int]) -> str:
        """What was chosen and over what, in one sentence."""
        chosen = f"the fastest of {self.num_choices} choices" if self.num_choices > 1 else "the only choice"
        others = ""
        if self.next_best is not None:
            devices, share = self.next_best
            others = f"; {_in_words(Counter(devices))} would reach {share:.0%} of its samples per second"
        return f"{_in_words(Counter(self.devices))}: {chosen} among the free lanes ({_in_words(free)}){others}"


def _fastest(asked: RunSpec, free: Mapping[str, int], *, wait: bool) -> _Fastest | None:
    """The fastest plan of those for different mixes of the free devices; None if they do not suffice.

    Raises `PlanningFailed` if there is a plan for none of them, and as `planned` does.
    """
    number = asked.lanes.num_rollout + asked.lanes.num_trainer
    made: list[tuple[list[str], ChosenPlan]] = []
    failures: list[PlanningFailed] = []
    for mix in mixes(free, number, best_first(asked, free), trains=trains_on(asked)):
        devices = sorted(mix.elements())
        try:
            made.append((devices, planned(asked, devices, wait=wait)))
        except PlanningFailed as error:
            failures.append(error)
    if not made and failures:
        raise failures[0]
    if not made:
        return None
    made.sort(key=lambda found: _is_guessed(*found))
    best = max(made, key=lambda found: (not _is_guessed(*found), _samples_per_second(found[1])))
    others = [found for found in made if found is not best]
    next_best = max(others, key=lambda found: _samples_per_second(found[1]), default=None)
    share = None if next_best is None else _samples_per_second(next_best[1]) / _samples_per_second(best[1])
    return _Fastest(*best, None if next_best is None or share is None else (next_best[0], share), len(made))


def _is_guessed(devices: list[str], chosen: ChosenPlan) -> bool:
    """Whether nothing is known of some of the devices, so that the plan takes them for others."""
    return chosen.body["costs"] == "profile" and any(profile_name(device) is None for device in devices)


def _samples_per_second(chosen: ChosenPlan) -> float:
    return chosen.body["by_mode"][chosen.body["mode"]]["samples_per_second"]


def _in_words(devices: Mapping[str, int]) -> str:
    return ", ".join(f"{number} × {device or 'unknown'}" for device, number in sorted(devices.items()))


def _num_lanes(spec: Mapping[str, Any]) -> int:
    """The number of lanes that generate or train in a spec as plain JSON."""
    return int(spec["lanes"]["num_rollout"]) + int(spec["lanes"]["num_trainer"])


def hypothetical_plan(asked: RunSpec) -> PlanPreview:
    """What the planner would choose for the spec on the pool's lanes, free or not, ignoring its own placement.

    If the pool has too few lanes, the missing ones are assumed to be of its most frequent device. Raises
    `PlanningFailed`.
    """
    devices = Counter(usable(asked, pool_devices(asked.lanes.pool)))
    if not devices:
        raise PlanningFailed(
            f"the pool {asked.lanes.pool} has no lanes that take work: add a node to it, or choose another"
        )
    num_missing = max(0, asked.lanes.num_rollout + asked.lanes.num_trainer - devices.total())
    devices[max(devices, key=lambda device: (devices[device], device))] += num_missing
    found = _fastest(asked, devices, wait=True)
    assert found is not None
    price_per_hour, num_unpriced = _price(asked, found.devices)
    return {
        **found.plan.body,
        "fits_pool": not num_missing,
        "card_bytes": {
            device: accelerator(name).memory_bytes
            for device in set(found.devices)
            if (name := profile_name(device)) is not None
        },
        "price_per_hour": price_per_hour,
        "num_unpriced_lanes": num_unpriced,
    }


def _price(asked: RunSpec, devices: list[str]) -> tuple[float | None, int]:
    """What an hour of the run's lanes costs, or None, and how many of those on GPUs have no price. The reward lanes are
    taken to be of the most frequent device."""
    lanes = Counter(device for device in devices if device != CPU)
    if asked.lanes.rewards_on is RewardDevice.OWN_GPU and lanes:
        lanes[max(lanes, key=lambda device: (lanes[device], device))] += asked.lanes.num_reward
    prices = mean_lane_prices(asked.lanes.pool)
    known = [prices[device] * number for device, number in lanes.items() if device in prices]
    num_unpriced = sum(number for device, number in lanes.items() if device not in prices)
    return (float(sum(known)) if known else None), num_unpriced


def can_be_planned(asked: RunSpec) -> bool:
    """Whether the run fits lanes of the pool, free or not. Raises `PlanBeingMade`."""
    try:
        return _fastest(asked, usable(asked, pool_devices(asked.lanes.pool)), wait=False) is not None
    except PlanningFailed:
        return False
