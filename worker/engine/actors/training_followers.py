"""The further GPUs of a trainer lane: ranks of the run's group, which make every call of the lane's own process too.

```text
calling(method, …) ─► the same call on each follower ┐
                   └► … on this rank ────────────────┴─► collectives of lane and gang ─► all have answered
```

Each has the same micro-batches and a part of their tokens. What is random is drawn from seeds, so that all draw the
same. Invariant: after a call all ranks of the lane have made it, or the lane is lost.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import ray
from ray import ObjectRef

from worker.engine.actors.follow_watch import GRACE_SECONDS, FollowWatch
from worker.engine.actors.lane_followers import LaneFollowers
from worker.engine.errors import EngineError

if TYPE_CHECKING:
    from worker.engine.actors.trainer import TrainerActor


class TrainingFollowers(LaneFollowers):
    """The followers of one trainer lane, in the order of its GPUs."""

    def __init__(self, lane: str, devices: Sequence[str], actor_class: "type[TrainerActor]") -> None:
        super().__init__(lane, devices, actor_class)

    def check_devices(self) -> None:
        """Raise `LaneSpreadError` for a follower that sees other accelerators than its own. They have loaded."""
        for rank, seen in {rank: actor.uuids.remote() for rank, actor in self._actors.items()}.items():
            self._check_seen(rank, self._value(rank, seen))

    @contextmanager
    def calling(self, method: str, *arguments: Any, **of_gpu: Sequence[Any]) -> Iterator[list[Any]]:
        """Have the followers make a call, which this process makes inside the context.

        Args:
            method: of `TrainerActor`.
            arguments: of the call, the same for every follower.
            of_gpu: keyword arguments that differ, each a value for every GPU of the lane.

        Yields:
            A list that holds the followers' values once all have answered.

        Raises:
            FollowerLostError: where the process of a follower ends.
            LaneSpreadError: where a follower fails and this process does not, or only since it waited for it.
        """
        refs = {
            rank: getattr(actor, method).remote(*arguments, **{name: each[rank] for name, each in of_gpu.items()})
            for rank, actor in self._actors.items()
        }
        # Where all fail alike, this process is about to raise the same.
        watch = FollowWatch(refs, on_failure=self._end_all, patience_seconds=GRACE_SECONDS)
        values: list[Any] = []
        try:
            yield values
        except BaseException as error:
            watch.stop()
            self._settle_failed(watch.seen or self._failures_of(refs), error)
            raise
        watch.stop()
        values += [self._value(rank, ref) for rank, ref in refs.items()]

    def _failures_of(self, refs: Mapping[int, ObjectRef]) -> dict[int, Exception]:
        """What followers fail with in a call that has failed here, by rank. Those that wait in a collective with this
        process are ended."""
        ready, waiting = ray.wait(list(refs.values()), num_returns=len(refs), timeout=GRACE_SECONDS)
        failures = {rank: error for rank, ref in refs.items() if ref in ready and (error := _error_of(ref)) is not None}
        if waiting:
            self._end_all()
        return failures

    def _settle_failed(self, failures: Mapping[int, Exception], error: BaseException) -> None:
        """Raise what followers have failed with where that explains `error`, which this process has failed with."""
        has_dead = any(isinstance(each, ray.exceptions.RayActorError) for each in failures.values())
        if has_dead:
            self._end_all()
        if has_dead or (failures and not isinstance(error, EngineError)):
            raise self._failure(failures) from error


def _error_of(ref: ObjectRef) -> Exception | None:
    try:
        ray.get(ref)
    except (ray.exceptions.RayActorError, ray.exceptions.RayTaskError) as error:
        return error
    return None
