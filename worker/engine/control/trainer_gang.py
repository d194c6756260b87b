"""Calls to the trainer gang: most are made on all ranks alike, and are complete when all have answered.

A rank left out of a collective would make the others wait for ever. Some calls are made on single ranks: `rendezvous`,
`broadcast` and `publish` of the shards that each rank has copied contain no collective of the gang; `accumulate`
contains one in ZeRO 2 and 3 only, where the scheduler gives every rank equally many passes at once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import ray
from ray import ObjectRef

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.lanes import LaneWork
from worker.contracts.names import LaneRole, Publishing
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import AccumulationPlan, BroadcastReport, RestoredCheckpoint
from worker.engine.control.broadcasts import Broadcasts
from worker.engine.control.pending_calls import PendingCalls, Reports
from worker.engine.control.run_components import RunComponents
from worker.engine.errors import CheckpointUnwrittenError, LaneSpreadError
from worker.engine.sync.broadcast_plan import BroadcastPlan, DoneBroadcast
from worker.engine.types import PullReceipt, ShardInfo, shard_indices_of_rank

RENDEZVOUS_TIMEOUT_SECONDS = 30.0
"""How long rank 0 may take to choose a port: its actor is up and idle, so longer means that it hangs."""


class TrainerGang:
    """The trainer lanes as one torch.distributed group; `then` is called with the reports of all ranks concerned."""

    def __init__(self, components: RunComponents, calls: PendingCalls, *, ready: Callable[[], Collection[str]]) -> None:
        """`ready` gives the lanes that are loaded and not lost."""
        self._lanes = components.lanes
        self._calls = calls
        self._broadcasts = Broadcasts(components.lanes, ready=ready)
        self.lanes = components.lanes.names(LaneRole.TRAINER)
        """The lanes of the ranks, in rank order."""
        self._num_shards = 1
        """The number of shards of a published version, over all ranks."""
        self._storing: set[int] = set()
        """The versions that were broadcast and are on their way to the object store."""

    @property
    def is_storing(self) -> bool:
        """Whether a version that lanes have already is on its way to the object store, which takes the gang's
        processes."""
        return bool(self._storing)

    def load(
        self,
        answer: BootstrapAnswer,
        prompts: ObjectRef,
        then: Callable[[Reports], None],
        *,
        otherwise: Callable[[str], None] | None = None,
    ) -> None:
        """Form the process group and load the model on every rank. `prompts` refers to a sequence of `Prompt`;
        `otherwise` is called as `PendingCalls.start` says, and in place of the error.

        Raises:
            LaneSpreadError: for trainer lanes of unlike numbers of GPUs.
        """
        lanes = self.lanes
        if problem := self._unlike_widths():
            if otherwise is None:
                raise LaneSpreadError(problem)
            otherwise(problem)
            return
        first = self._lanes[lanes[0]].actor
        rendezvous = ray.get(first.rendezvous.remote(), timeout=RENDEZVOUS_TIMEOUT_SECONDS)
        refs = {
            lane: self._lanes[lane].actor.load.remote(
                answer.spec,
                answer.base_model_path,
                rank,
                len(lanes),
                rendezvous,
                prompts,
            )
            for rank, lane in enumerate(lanes)
        }

        self._storing.clear()
        self._broadcasts.close()

        def finish(reports: Reports) -> None:
            self._num_shards = reports[lanes[0]].value
            if answer.spec.pipeline.publishing is Publishing.DIRECT:
                self._open_broadcasts(otherwise)
            then(reports)

        self._calls.start(LaneWork.LOAD, refs, finish, otherwise=otherwise)

    def _unlike_widths(self) -> str | None:
        """Why the lanes cannot form one gang: a micro-batch is divided over as many GPUs on each."""
        widths = {lane: self._lanes.num_gpus(lane) for lane in self.lanes}
        if len(set(widths.values())) == 1:
            return None
        listed = ", ".join(f"`{lane}` {number}" for lane, number in widths.items())
        return f"trainer lanes must have equally many GPUs, got {listed}: choose lanes of one width to train"

    def _open_broadcasts(self, otherwise: Callable[[str], None] | None) -> None:
        """Ask the ranks that publish where lanes find them."""
        ranks = self.lanes[: self._num_shards]
        refs = {lane: self._lanes[lane].actor.open_broadcasts.remote() for lane in ranks}

        def opened(reports: Reports) -> None:
            self._broadcasts.open({lane: reports[lane].value for lane in ranks})

        self._calls.start(LaneWork.LOAD, refs, opened, otherwise=otherwise)

    def accumulate(
        self,
        lane: str,
        plan: AccumulationPlan,
        behaviour: RemoteVersion | None,
        parts: Sequence[ObjectRef],
        then: Callable[[Reports], None],
    ) -> None:
        """Forward and backward over the micro-batches of `plan`, on one rank.

        Args:
            lane: the rank's lane.
            plan: its micro-batches, their groups and advantages.
            behaviour: the version that generated the groups, where the plan needs it.
            parts: references to the parts of trajectories that it needs, flat and in order of the groups.
            then: called with `UpdateStats` of the rank.
        """
        # In a list Ray does not resolve them.
        for_followers = {"refs": list(parts)} if self._lanes.num_gpus(lane) > 1 else {}
        call = self._lanes[lane].actor.accumulate.remote(plan, behaviour, *parts, **for_followers)
        self._calls.start(LaneWork.ACCUMULATE, {lane: call}, then)

    def commit(self, num_skipped_groups: int, then: Callable[[Reports], None]) -> None:
        """Take an optimizer step. `num_skipped_groups` of the mini-batch were not accumulated, on purpose."""
        refs = {lane: self._lanes[lane].actor.commit.remote(num_skipped_groups) for lane in self.lanes}
        self._calls.start(LaneWork.COMMIT, refs, then)

    def snapshot(self, policy_version: int, then: Callable[[Reports], None]) -> None:
        """Copy the present weights, for `publish`."""
        refs = {lane: self._lanes[lane].actor.snapshot.remote(policy_version) for lane in self.lanes}
        self._calls.start(LaneWork.SNAPSHOT, refs, then)

    def publish(self, policy_version: int, then: Callable[[RemoteVersion], None]) -> None:
        """Publish the last snapshot as a version, which `then` receives for rollout lanes to pull.

        Each rank publishes the shards it has copied on a thread of its own, without collectives of the gang, while that
        trains on. Where they are broadcast, `then` is called when that has ended, and the copy in the object store is
        made after it.
        """
        plan = self._broadcasts.plan(policy_version)
        sent = {} if plan is None else self._begin_broadcast(plan, policy_version)
        lanes, indices, refs, shards = self.lanes, dict[str, range](), dict[str, ObjectRef](), dict[int, ObjectRef]()
        for rank, lane in enumerate(lanes[: self._num_shards]):
            indices[lane] = shard_indices_of_rank(self._num_shards, rank=rank, world_size=len(lanes))
            publish = self._lanes[lane].actor.publish.options(num_returns=1 + len(indices[lane]))
            refs[lane], *own = publish.remote(policy_version)
            shards.update(zip(indices[lane], own, strict=True))

        def finish(infos_of_lane: Mapping[str, Sequence[ShardInfo]], done: DoneBroadcast | None = None) -> None:
            infos = dict[int, ShardInfo]()
            for lane, own in infos_of_lane.items():
                infos.update(zip(indices[lane], own, strict=True))
            in_order = sorted(shards)
            then(
                RemoteVersion(
                    policy_version=policy_version,
                    shard_infos=tuple(infos[index] for index in in_order),
                    refs=tuple(shards[index] for index in in_order),
                    broadcast=done,
                )
            )

        if plan is None:
            self._calls.start(LaneWork.PUBLISH, refs, lambda reports: finish(_values(reports)))
            return
        self._storing.add(policy_version)
        self._calls.start(LaneWork.BROADCAST, sent, partial(self._broadcast, plan, policy_version, finish))
        self._calls.start(LaneWork.PUBLISH, refs, lambda _: self._storing.discard(policy_version))

    def _begin_broadcast(self, plan: BroadcastPlan, policy_version: int) -> dict[str, ObjectRef]:
        """Have the plan's lanes receive a version and its sources send it; the sources' reports."""
        for lane in plan.lanes:
            # The lane tells what came of it when it pulls.
            self._lanes[lane].actor.receive.remote(plan, policy_version)
        return {
            lane: self._lanes[lane].actor.broadcast.remote(policy_version, plan, source)
            for source, lane in enumerate(self.lanes[: len(plan.sources)])
        }

    def _broadcast(
        self,
        plan: BroadcastPlan,
        policy_version: int,
        then: Callable[[Mapping[str, Sequence[ShardInfo]], DoneBroadcast | None], None],
        reports: Reports,
    ) -> None:
        """The sources have sent a version, or could not."""
        told: dict[str, BroadcastReport] = _values(reports)
        done = self._broadcasts.ended(plan, policy_version, tuple(told.values()))
        then({lane: report.shards for lane, report in told.items()}, done)

    def pulled(self, lane: str, receipt: PullReceipt) -> None:
        """A lane has bound a version; what a broadcast has missed is counted."""
        self._broadcasts.pulled(lane, receipt)

    def lane_lost(self, lane: str, reason: str) -> None:
        """The process of a lane of the run has died."""
        self._broadcasts.lost(lane, reason)

    def save_checkpoint(
        self,
        uri: str,
        client_state: dict[str, Any],
        behaviour: RemoteVersion | None,
        then: Callable[[Reports], None],
        otherwise: Callable[[str], None],
    ) -> None:
        """Write a checkpoint with `client_state`; `behaviour` is the older version to store beside the weights, where
        the next batch is generated with one. `otherwise` is called with the reason where the storage does not take
        it."""
        refs = {
            lane: self._lanes[lane].actor.save_checkpoint.remote(uri, client_state, behaviour) for lane in self.lanes
        }
        self._calls.start(LaneWork.CHECKPOINT, refs, then, otherwise=otherwise, tolerated=CheckpointUnwrittenError)

    def load_checkpoint(
        self,
        uris: Sequence[str],
        then: Callable[[RestoredCheckpoint, RemoteVersion | None], None],
        *,
        otherwise: Callable[[str], None] | None = None,
    ) -> None:
        """Load the first of `uris` that is not damaged; `then` also receives the older version stored with it, if any.
        `otherwise` is called as `PendingCalls.start` says."""
        returns = {
            lane: self._lanes[lane].actor.load_checkpoint.options(num_returns=1 + self._num_shards).remote(uris)
            for lane in self.lanes
        }
        _, *shards = returns[self.lanes[0]]

        def finish(reports: Reports) -> None:
            restored: RestoredCheckpoint = reports[self.lanes[0]].value
            version = restored.behaviour_version
            behaviour = None
            if version is not None:
                behaviour = RemoteVersion(
                    policy_version=version, shard_infos=restored.behaviour_shards, refs=tuple(shards)
                )
            then(restored, behaviour)

        restored = {lane: refs[0] for lane, refs in returns.items()}
        self._calls.start(LaneWork.RESTORE, restored, finish, otherwise=otherwise)

    def export(self, then: Callable[[Reports, dict[str, bytes]], None]) -> None:
        """Export the weights; `then` also receives the files in diffusers format, by path."""
        pairs = {lane: self._lanes[lane].actor.export.options(num_returns=2).remote() for lane in self.lanes}
        files = pairs[self.lanes[0]][1]
        exported = {lane: refs[0] for lane, refs in pairs.items()}
        self._calls.start(LaneWork.EXPORT, exported, partial(_with_files, then, files))


def _values(reports: Reports) -> dict[str, Any]:
    return {lane: report.value for lane, report in reports.items()}


def _with_files(then: Callable[[Reports, dict[str, bytes]], None], files: ObjectRef, reports: Reports) -> None:
    then(reports, ray.get(files))
