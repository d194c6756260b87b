"""Asks the processes of lanes which collectives they wait in.

```text
driver ─► the lane's own process ─► its other GPUs' processes          within COLLECTIVES_SECONDS
   └──────── no answer: it is stopped, or holds Python's lock ─► each of the others, by its name in Ray
```

Those that wait for a process that has stopped show where it was missed, so they must not depend on it to tell.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import ray
from ray import ObjectRef

from worker.engine.actors.lane_followers import follower_name
from worker.engine.actors.reports import LaneLocation, OpenCollective

logger = logging.getLogger(__name__)

COLLECTIVES_SECONDS = 3.0
"""How long ranks may take to tell their collectives before one is ended: it takes them milliseconds, and those that
cannot answer hold up the others' restart. The further GPUs of such a lane are given as long again."""

Told = tuple[OpenCollective, ...] | None
"""What a process has told; `None` where it has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLane:
    """How the processes of a lane are found."""

    actor: Any
    location: LaneLocation | None
    """`None` before it is up."""
    num_gpus: int


def ask_collectives(lanes: Mapping[str, AskedLane]) -> dict[str, Told]:
    """What each of `lanes` tells, by name, and beside it each further GPU of it; `None` for a process that has not told
    within `COLLECTIVES_SECONDS`."""
    calls = {name: lane.actor.collectives_by_gpu.remote() for name, lane in lanes.items()}
    answers: dict[str, dict[int, Told]] = {name: told or {0: None} for name, told in _answers(calls).items()}
    asked = {
        (name, gpu): follower.open_collectives.remote()
        for name, lane in lanes.items()
        if answers[name] == {0: None}
        for gpu, follower in _followers(lane).items()
    }
    for (name, gpu), told in _answers(asked).items():
        answers[name][gpu] = told
    return {
        f"{name}, GPU {gpu}" if gpu else name: told for name, by_gpu in answers.items() for gpu, told in by_gpu.items()
    }


def _followers(lane: AskedLane) -> dict[int, Any]:
    """The actors of a lane's further GPUs, by number: none where they have not been started, or have ended."""
    found = dict[int, Any]()
    if lane.location is None:
        return found
    for gpu in range(1, lane.num_gpus):
        with suppress(ValueError):
            found[gpu] = ray.get_actor(follower_name(lane.location.node_id, lane.location.pid, gpu))
    return found


def _answers(calls: Mapping[Any, ObjectRef]) -> dict[Any, Any]:
    """What calls have returned within `COLLECTIVES_SECONDS`, by key; `None` from a process that has not answered, has
    died, or whose torch tells of collectives in another form."""
    if not calls:
        return {}
    ready, _ = ray.wait(list(calls.values()), num_returns=len(calls), timeout=COLLECTIVES_SECONDS)
    return {key: _value(call) if call in ready else None for key, call in calls.items()}


def _value(call: ObjectRef) -> Any:
    try:
        return ray.get(call)
    except ray.exceptions.RayError as error:
        logger.warning("a rank could not tell its collectives: %s", error)
        return None
