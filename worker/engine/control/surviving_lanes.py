"""The run's lanes that have outlived the driver of an earlier attempt, and which of them the next one goes on with.

```text
of an earlier attempt ─► answers, idle, on the granted device, with the same code and model ─► goes on
                         anything else                                                      ─► ended, with all it holds
```

Trainer lanes go on all together or not at all, since they are one process group, and only where there is a checkpoint:
what they have of the attempt before is replaced as that is loaded. Rollout lanes are without a state once they have
pulled a version, reward lanes always.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.placement_group import PlacementGroup, get_placement_group, placement_group_table, remove_placement_group

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.lanes import LaneGrant
from worker.contracts.left_lanes import LeftLanes
from worker.contracts.names import LaneRole, Publishing
from worker.engine.actors.reports import SurvivingLane
from worker.engine.load_keys import expected_keys, uploaded_code

logger = logging.getLogger(__name__)

NAMESPACE = "tandem"
"""Ray's namespace of every driver, where one finds what another has named."""
ANSWER_SECONDS = 3.0
"""How long a survivor may take to answer, on a thread that does nothing else."""
IDLE_SECONDS = 10.0
"""How long the next attempt waits for calls of the last one to end: loading a model anew takes no less."""
ASK_SECONDS = 0.2
"""Between two questions meanwhile."""
SEPARATOR = "/"


@dataclass(frozen=True, slots=True)
class Survivor:
    """A lane of an earlier attempt, as Ray has it."""

    group: PlacementGroup
    actor: Any


@dataclass(frozen=True, slots=True)
class LaneNames:
    """What a run's kept lanes are called in Ray: `tandem/RUN/ATTEMPT/LANE`, and their actors with the number of the
    process behind it. All are in the namespace of the driver."""

    run: UUID
    attempt: int

    def group(self, lane: str) -> str:
        """The name of a lane's placement group in this attempt."""
        return SEPARATOR.join((NAMESPACE, str(self.run), str(self.attempt), lane))

    def actor(self, lane: str, number: int) -> str:
        """The name of the actor in the lane's process of this number."""
        return SEPARATOR.join((self.group(lane), str(number)))

    def groups(self) -> Iterator[tuple[str, str]]:
        """Lane and name of every placement group of this attempt and those before it."""
        for entry in placement_group_table().values():
            parts = entry["name"].split(SEPARATOR)
            if entry["state"] != "REMOVED" and len(parts) == 4 and self._is_own(parts):
                yield parts[3], entry["name"]

    def actors(self) -> dict[str, str]:
        """By lane, the name of the newest actor that lives of these attempts: one that goes on with a lane and restarts
        it has the same placement group."""
        newest = dict[str, tuple[int, int, str]]()
        for name in ray.util.list_named_actors():
            parts = name.split(SEPARATOR)
            if len(parts) == 5 and self._is_own(parts):
                this = int(parts[2]), int(parts[4]), name
                newest[parts[3]] = max(newest.get(parts[3], this), this)
        return {lane: name for lane, (_, _, name) in newest.items()}

    def _is_own(self, parts: Sequence[str]) -> bool:
        return parts[0] == NAMESPACE and parts[1] == str(self.run) and int(parts[2]) <= self.attempt


def are_kept(answer: BootstrapAnswer) -> bool:
    """Whether this run's lanes outlive a driver that is lost. With direct publishing they do not: receivers and senders
    are of one attempt."""
    return answer.spec.pipeline.publishing is Publishing.STORE


def take_survivors(answer: BootstrapAnswer) -> dict[str, Survivor]:
    """By lane of the grant, the survivor that it goes on with. All others are ended. Called before any lane of this
    attempt is requested."""
    found = _survivors(LaneNames(answer.run, answer.attempt))
    fitting = {grant.lane: found[grant.lane] for grant in answer.lanes if grant.lane in found}
    told = _surveyed(fitting)
    keys, code = expected_keys(answer), uploaded_code()
    kept = {
        grant.lane: fitting[grant.lane]
        for grant in answer.lanes
        if grant.lane in told and _can_go_on(grant, told[grant.lane], keys[grant.lane], code)
    }
    trainers = {grant.lane for grant in answer.lanes if grant.role is LaneRole.TRAINER}
    if answer.resume_from is None or not trainers <= kept.keys():
        kept = {lane: survivor for lane, survivor in kept.items() if lane not in trainers}
    for lane, survivor in found.items():
        if lane not in kept:
            logger.info("lane %s of an earlier attempt is ended: this one cannot go on with it", lane)
            end(survivor)
    return kept


def end_left_lanes(left: LeftLanes) -> None:
    """End what an attempt and those before it have left of these lanes."""
    for lane, group in LaneNames(left.run, left.attempt).groups():
        if lane in left.lanes:
            logger.info("what is left of lane %s is ended", lane)
            remove_placement_group(get_placement_group(group))


def end(survivor: Survivor) -> None:
    """End a survivor and free what it holds."""
    ray.kill(survivor.actor, no_restart=True)
    remove_placement_group(survivor.group)


def _survivors(names: LaneNames) -> dict[str, Survivor]:
    """By lane, those that live; what is left of others is freed."""
    actors = names.actors()
    found = {}
    for lane, group in names.groups():
        if lane in actors:
            found[lane] = Survivor(get_placement_group(group), ray.get_actor(actors[lane]))
        else:
            remove_placement_group(get_placement_group(group))
    return found


def _surveyed(survivors: Mapping[str, Survivor]) -> dict[str, SurvivingLane]:
    """What those lanes say that answer, when they are idle or `IDLE_SECONDS` have passed."""
    deadline = time.monotonic() + IDLE_SECONDS
    while True:
        told = {lane: answer for lane, survivor in survivors.items() if (answer := _survey(survivor))}
        if all(answer.is_idle for answer in told.values()) or time.monotonic() > deadline:
            return told
        time.sleep(ASK_SECONDS)


def _survey(survivor: Survivor) -> SurvivingLane | None:
    try:
        answer: SurvivingLane = ray.get(survivor.actor.survey.remote(), timeout=ANSWER_SECONDS)
    except (GetTimeoutError, RayError):
        return None
    return answer


def _can_go_on(grant: LaneGrant, lane: SurvivingLane, key: str, code: str) -> bool:
    is_there = lane.device == grant.device and grant.ray_node_id in ("", lane.node_id)
    return is_there and lane.is_idle and (lane.loaded_as, lane.code) == (key, code)
