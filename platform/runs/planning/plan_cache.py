"""Cache of plans, keyed by all of their inputs: the workload, the number of devices of each kind, and measured costs.

    planned() ─► kept? ─► yes: that one
                  └─ no ─► the lock of this key ─► kept by now? ─► planner ─► keep

Invariants: no transaction is open while the planner works, so only callers that want the same plan wait for it. The
order in which devices are listed does not matter.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.utils import timezone

import worker.scheduling
from fleet.device_profiles import profile_name, profiles_of
from runs.advisory_lock import advisory_lock
from runs.models import CachedPlan
from runs.planning.cost_history import History, measured_costs
from runs.planning.plan_body import PlanBody, plan_body
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.planner import plan, with_choice

KEPT_FOR = timedelta(days=30)
"""Most plans that are kept. Plans are small and quickly computed, so the bound only keeps the table from growing."""
NOT_PLANNED_BY = frozenset(
    {
        *("prompts", "seed", "priority", "elastic", "max_attempts", "num_batches", "mirrors"),
        *("optimizer", "evaluation", "stored_samples", "checkpoint", "replay_gate"),
    }
)
"""Sections of a spec that do not affect a plan."""


class PlanningFailed(Exception):
    """The planner finds no placement for the run on these lanes; the message says why."""


class PlanBeingMade(Exception):
    """Another process is computing this plan, and the caller does not want to wait for it."""


@dataclass(frozen=True, slots=True)
class ChosenPlan:
    """What the planner chose for a spec on devices of any order."""

    sections: dict[str, Any]
    """The spec's sections that the choice changes, as plain JSON."""
    body: PlanBody
    """Its `trainers` are positions among the devices as they were given."""

    def applied_to(self, asked: RunSpec) -> RunSpec:
        """The spec with the choice applied."""
        return RunSpec.model_validate(asked.model_dump() | self.sections)


def planned(asked: RunSpec, devices: Sequence[str], *, wait: bool = True) -> ChosenPlan:
    """What the planner chooses for the spec on generating and training lanes of these `devices`.

    Raises:
        PlanningFailed: no placement is possible on these devices.
        PlanBeingMade: another process is computing this plan; only without `wait`.
    """
    measured = measured_costs(asked, devices)
    key = _key(asked, devices, measured)
    kept = CachedPlan.objects.filter(key=key).first()
    if kept is None:
        with _only_one(key, wait=wait):
            kept = CachedPlan.objects.filter(key=key).first() or _make(key, asked, sorted(devices), measured)
    body: PlanBody = kept.body
    trainers = positions_of(sorted(devices), body["trainers"], devices)
    return ChosenPlan(kept.sections, {**body, "trainers": list(trainers)})


def kept_plan(asked: RunSpec, devices: Sequence[str]) -> PlanBody | None:
    """The plan for this spec and these devices, if it was made before."""
    kept = CachedPlan.objects.filter(key=_key(asked, devices, measured_costs(asked, devices))).first()
    body: PlanBody | None = None if kept is None else kept.body
    return body


def positions_of(canonical: Sequence[str], chosen: Sequence[int], devices: Sequence[str]) -> tuple[int, ...]:
    """Positions in `devices` of as many devices of each kind as `chosen` has in `canonical`, the last ones of each
    kind."""
    wanted = Counter(canonical[position] for position in chosen)
    found = []
    for position in reversed(range(len(devices))):
        if wanted[devices[position]] > 0:
            wanted[devices[position]] -= 1
            found.append(position)
    return tuple(reversed(found))


def _make(key: str, asked: RunSpec, devices: Sequence[str], measured: History) -> CachedPlan:
    profiles = profiles_of(devices)
    try:
        made = plan(
            asked,
            devices=[profiles[device] for device in devices] if profiles else (),
            history=measured.tables,
        )
    except ValueError as error:
        raise PlanningFailed(str(error)) from error
    before = asked.model_dump(mode="json")
    after = with_choice(asked, made.best).model_dump(mode="json")
    sections = {name: section for name, section in after.items() if section != before[name]}
    CachedPlan.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    body = plan_body(asked, made, devices, measured)
    kept, _ = CachedPlan.objects.get_or_create(key=key, defaults={"sections": sections, "body": body})
    return kept


def _key(asked: RunSpec, devices: Sequence[str], measured: History) -> str:
    costs = [
        sorted([lane, kind.value, repr(known)] for (lane, kind), known in table.items()) for table in measured.tables
    ]
    spec = asked.model_dump(mode="json", exclude=set(NOT_PLANNED_BY))
    # What is known of a card without a profile changes when its node has measured it.
    profiles = [profile_name(device) for device in sorted(set(devices))]
    parts = [planner_digest(), spec, sorted(devices), profiles, costs, measured.num_batches]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def planner_digest() -> str:
    """Digest of the planner's source code, since another version makes other plans."""
    (folder,) = worker.scheduling.__path__
    digest = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _only_one(key: str, *, wait: bool) -> Iterator[None]:
    """Hold the key's lock. Raises `PlanBeingMade` where another process holds it; only without `wait`."""
    with advisory_lock(int(key[:15], 16), wait=wait) as is_held:
        if not is_held:
            raise PlanBeingMade("this plan is being computed")
        yield
