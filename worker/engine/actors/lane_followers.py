"""The GPUs of a rollout lane beyond the first, as the lane's own process (rank 0) starts, drives and watches them.

```text
load ─► join: all loaded ─► one torch.distributed group
bind (on every rank, read back, compared) ─► following ─► every prediction on every rank ─► bind …
                                                 │ a follower fails or dies
                                                 └─► the other followers are ended, so that no rank waits for it
```

Invariant: a call either ends with all ranks in step, or raises with rank and reason. A process that has ended is
`FollowerLostError`, upon which the driver starts the whole lane again; any other failure ends the run as that of a lane
does.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import ray
from ray import ObjectRef
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from worker.contracts.node_reports import are_same_devices
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.follow_watch import FollowWatch
from worker.engine.actors.follower import FollowerActor, follower_name
from worker.engine.actors.reports import CallReport, OpenCollective
from worker.engine.errors import FollowerLostError, LaneSpreadError, SyncError
from worker.engine.types import PublishedVersion, PullReceipt

if TYPE_CHECKING:
    from worker.engine.context_parallel.calls import SpreadCalls
    from worker.engine.models.base import ModelAdapter

logger = logging.getLogger(__name__)

COLLECTIVES_SECONDS = 1.5
"""How long followers may take to tell their collectives: it takes them milliseconds, and the driver waits twice as long
for the lane's answer (`worker.engine.control.collective_answers`)."""


class LaneFollowers:
    """The followers of one lane, ranks 1 and up of its group."""

    _calls: "SpreadCalls"

    def __init__(self, lane: str, devices: Sequence[str], *, actor_class: type[FollowerActor] = FollowerActor) -> None:
        """Start a process for each of `devices`, which are the lane's beyond the first, on this node."""
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

    def load(self, spec: RunSpec, base_model_path: str) -> None:
        """Let the followers begin to load; `join` waits for them."""
        self._loading = {rank: actor.load.remote(spec, base_model_path) for rank, actor in self._actors.items()}

    def join(self, model: "ModelAdapter") -> None:
        """As `Followers.join`. Raises `LaneSpreadError` for a follower that could not load."""
        from worker.engine.context_parallel.calls import SpreadCalls
        from worker.engine.context_parallel.lane_group import join_group, open_store
        from worker.engine.context_parallel.spreading import spread

        for rank, loading in self._loading.items():
            seen: tuple[str, ...] = self._value(rank, loading)
            if seen and not self._devices[rank].isdecimal() and not are_same_devices([self._devices[rank]], seen):
                raise LaneSpreadError(f"{self._name(rank)} must see that GPU only, it sees {', '.join(seen)}")
        store = open_store(self.size)
        joining = {rank: actor.join.remote(rank, self.size, store.port) for rank, actor in self._actors.items()}
        join_group(0, self.size, store)
        spread(model.transformer, model.device, self.size)
        for rank, joined in joining.items():
            self._value(rank, joined)
        self._calls = SpreadCalls(model.transformer, self.size)
        logger.info("predictions are spread over the %d GPUs of the lane", self.size)

    def bind(
        self, own: Callable[[], PullReceipt], version: PublishedVersion, *, evaluated: bool = False
    ) -> PullReceipt:
        """As `Followers.bind`; each rank fetches the shards itself.

        Raises:
            SyncError: where another number of tensors or another checksum is read back from a follower.
            LaneSpreadError: where a follower cannot bind the version.
        """
        binding = {rank: actor.bind.remote(version, evaluated=evaluated) for rank, actor in self._actors.items()}
        receipt = own()
        for rank, bound in binding.items():
            theirs: PullReceipt = self._value(rank, bound)
            if theirs != receipt:
                raise SyncError(
                    f"{self._name(rank)} must bind policy version {receipt.policy_version} as the first GPU did, "
                    f"{receipt.num_bound_tensors} tensors with sha256 {receipt.sha256}, got version "
                    f"{theirs.policy_version}, {theirs.num_bound_tensors} tensors with sha256 {theirs.sha256}"
                )
        return receipt

    @contextmanager
    def following(self) -> Iterator[None]:
        """As `Followers.following`. Raises `LaneSpreadError` for a follower that fails."""
        refs = {rank: actor.follow.remote() for rank, actor in self._actors.items()}
        watch = FollowWatch(refs, on_failure=self._end_all)
        self._calls.begin()
        try:
            try:
                yield
            finally:
                if not self._calls.is_broken:
                    self._calls.end()
        except BaseException as error:
            if self._calls.is_broken:
                self._break(watch, error)
            self._settle(watch, refs)
            raise
        self._settle(watch, refs)

    def open_collectives(self) -> dict[int, tuple[OpenCollective, ...] | None]:
        """The collectives that each follower waits in, by rank; `None` for one that has not told within
        `COLLECTIVES_SECONDS`. May be called on any thread."""
        calls = {rank: actor.open_collectives.remote() for rank, actor in self._actors.items()}
        ready, _ = ray.wait(list(calls.values()), num_returns=len(calls), timeout=COLLECTIVES_SECONDS)
        return {rank: _told(call) if call in ready else None for rank, call in calls.items()}

    def _settle(self, watch: FollowWatch, refs: dict[int, ObjectRef]) -> None:
        """Wait until the followers have returned, which they were told to."""
        watch.stop()
        for rank, ref in refs.items():
            self._value(rank, ref)

    def _break(self, watch: FollowWatch, error: BaseException) -> NoReturn:
        """Raise the cause of a prediction that was not made on every rank: a follower's, else this process's own."""
        failures = watch.failures()
        self._end_all()
        if failures:
            raise self._failure(failures) from error
        raise error

    def _value(self, rank: int, ref: ObjectRef) -> Any:
        """What a follower has answered; its log records become this process's."""
        try:
            report: CallReport[Any] = ray.get(ref)
        except (ray.exceptions.RayActorError, ray.exceptions.RayTaskError) as error:
            self._end_all()
            raise self._failure({rank: error}) from error
        for record in report.logs:
            logger.log(logging.getLevelNamesMapping()[record.level.upper()], "GPU %d: %s", rank, record.message)
        return report.value

    def _failure(self, failures: dict[int, Exception]) -> LaneSpreadError:
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
