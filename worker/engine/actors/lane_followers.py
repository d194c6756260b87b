"""The GPUs of a lane beyond the first, each a process of its own, as the lane's own process (rank 0) starts and watches
them.

```text
lane's process ─► a process for each further GPU, on the same node ─► calls on all of them (`GenerationFollowers`,
                                            │ one fails or dies       `TrainingFollowers`)
                                            └─► the others are ended, so that no rank waits for it
```

Invariant: a call either ends with all ranks in step, or raises with rank and reason. A process that has ended is
`FollowerLostError`, upon which the driver starts the whole lane again; any other failure ends the run as that of a lane
does.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray import ObjectRef
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from worker.contracts.node_reports import are_same_devices
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.reports import OpenCollective
from worker.engine.errors import FollowerLostError, LaneSpreadError

logger = logging.getLogger(__name__)

COLLECTIVES_SECONDS = 1.5
"""How long followers may take to tell their collectives: it takes them milliseconds, and the driver waits twice as long
for the lane's answer (`worker.engine.control.collective_answers`)."""


def follower_name(node_id: str, pid: int, rank: int) -> str:
    """The name in Ray of the follower that is `rank` of the lane whose own process has `pid` on a node: the driver asks
    it by that while the lane's own process does not answer."""
    return f"follower/{node_id}/{pid}/{rank}"


class LaneFollowers:
    """The followers of one lane, ranks 1 and up of its group."""

    def __init__(self, lane: str, devices: Sequence[str], actor_class: type[LaneActor]) -> None:
        """Start an actor of `actor_class` for each of `devices`, which are the lane's beyond the first, on this
        node."""
        self._lane = lane
        self._devices = dict(enumerate(devices, start=1))
        node_id = ray.get_runtime_context().get_node_id()
        here = NodeAffinitySchedulingStrategy(node_id, soft=False)
        remote_class = ray.remote(concurrency_groups=actor_class.concurrency_groups)(actor_class)
        # The lane's own process holds what Ray reserves for the lane: a CPU share, and each of its GPUs.
        options = {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": here}
        self._actors = {
            rank: remote_class.options(name=follower_name(node_id, os.getpid(), rank), **options).remote(
                f"{lane}, GPU {rank}", device
            )
            for rank, device in self._devices.items()
        }

    @property
    def size(self) -> int:
        """The number of ranks, this process included."""
        return len(self._actors) + 1

    def open_collectives(self) -> dict[int, tuple[OpenCollective, ...] | None]:
        """The collectives that each follower waits in, by rank; `None` for one that has not told within
        `COLLECTIVES_SECONDS`. May be called on any thread."""
        calls = {rank: actor.open_collectives.remote() for rank, actor in self._actors.items()}
        ready, _ = ray.wait(list(calls.values()), num_returns=len(calls), timeout=COLLECTIVES_SECONDS)
        return {rank: _told(call) if call in ready else None for rank, call in calls.items()}

    def _value(self, rank: int, ref: ObjectRef) -> Any:
        """The value of what a follower has reported, alone or first of several; its log records become this
        process's."""
        try:
            answer = ray.get(ref)
        except (ray.exceptions.RayActorError, ray.exceptions.RayTaskError) as error:
            self._end_all()
            raise self._failure({rank: error}) from error
        report = answer[0] if isinstance(answer, tuple) else answer
        for record in report.logs:
            logger.log(logging.getLevelNamesMapping()[record.level.upper()], "GPU %d: %s", rank, record.message)
        return report.value

    def _check_seen(self, rank: int, seen: Sequence[str]) -> None:
        """Raise `LaneSpreadError` where a follower sees other accelerators than the one it was started for."""
        if seen and not self._devices[rank].isdecimal() and not are_same_devices([self._devices[rank]], tuple(seen)):
            raise LaneSpreadError(f"{self._name(rank)} must see that GPU only, it sees {', '.join(seen)}")

    def _failure(self, failures: Mapping[int, Exception]) -> LaneSpreadError:
        """The error for what followers have failed with, by rank: a death explains the failures of others."""
        dead = {rank: error for rank, error in failures.items() if isinstance(error, ray.exceptions.RayActorError)}
        reasons = [f"{self._name(rank)}: {_reason(error)}" for rank, error in (dead or failures).items()]
        found = FollowerLostError if dead else LaneSpreadError
        return found("; ".join(reasons))

    def _name(self, rank: int) -> str:
        return f"GPU {rank} of lane `{self._lane}` ({self._devices[rank]}), rank {rank} of {self.size}"

    def _end_all(self) -> None:
        """End the followers, so that a collective with them ends, too. The lane can only be started again then."""
        from worker.engine.context_parallel.lane_group import abort_group

        for actor in self._actors.values():
            ray.kill(actor, no_restart=True)
        abort_group()


def _told(call: ObjectRef) -> tuple[OpenCollective, ...] | None:
    """A follower's answer; `None` from one that has died, or whose torch tells of collectives in another form."""
    try:
        found: tuple[OpenCollective, ...] = ray.get(call)
    except ray.exceptions.RayError:
        return None
    return found


def _reason(error: Exception) -> str:
    if isinstance(error, ray.exceptions.RayTaskError) and error.cause is not None:
        return f"{type(error.cause).__name__}: {error.cause}"
    return f"its process has ended: {error}"
