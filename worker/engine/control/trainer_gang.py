"""The trainer gang: every call is made on all ranks alike, and is done when all have answered.

A rank left out of a collective would make the others wait for ever, so nothing here addresses one rank alone but the
question where they shall meet, and the publishing of what all have copied.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ray
from ray import ObjectRef

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.names import LaneRole
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import AccumulationPlan, Restored, ShardFacts
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.control.pending_calls import PendingCalls, Reports
from worker.engine.types import shard_indices_of_rank

RENDEZVOUS_TIMEOUT_SECONDS = 30.0


class TrainerGang:
    def __init__(self, lanes: ClusterLanes, calls: PendingCalls) -> None:
        self._lanes = lanes
        self._calls = calls
        self._num_shards = 1

    @property
    def lanes(self) -> list[str]:
        """The ranks' lanes; rank 0 first."""
        return self._lanes.names(LaneRole.TRAINER)

    def load(self, answer: BootstrapAnswer, then: Callable[[Reports], None]) -> None:
        """Form the process group and load the model on every rank."""
        lanes = self.lanes
        first = self._lanes[lanes[0]].actor
        meeting = ray.get(first.rendezvous.remote(), timeout=RENDEZVOUS_TIMEOUT_SECONDS)
        refs = {
            lane: self._lanes[lane].actor.load.remote(
                answer.spec, answer.base_model_path, rank, len(lanes), meeting, answer.initial_adapter, answer.prompts
            )
            for rank, lane in enumerate(lanes)
        }

        def finish(reports: Reports) -> None:
            self._num_shards = reports[lanes[0]].value
            then(reports)

        self._calls.start(refs, finish)

    def accumulate(
        self,
        plan: AccumulationPlan,
        behaviour: RemoteVersion | None,
        trajectories: Sequence[ObjectRef],
        then: Callable[[Reports], None],
    ) -> None:
        """`trajectories` are those of the plan's groups, flat and in order; `behaviour` the version that drew them."""
        refs = {lane: self._lanes[lane].actor.accumulate.remote(plan, behaviour, *trajectories) for lane in self.lanes}
        self._calls.start(refs, then)

    def commit(self, then: Callable[[Reports], None]) -> None:
        self._calls.start({lane: self._lanes[lane].actor.commit.remote() for lane in self.lanes}, then)

    def snapshot(self, policy_version: int, then: Callable[[Reports], None]) -> None:
        """Copy the weights as they are now, for `publish`."""
        refs = {lane: self._lanes[lane].actor.snapshot.remote(policy_version) for lane in self.lanes}
        self._calls.start(refs, then)

    def publish(self, policy_version: int, then: Callable[[RemoteVersion], None]) -> None:
        """Make a version of the last snapshot; `then` gets it for rollout lanes to pull.

        Each rank with a share does its own beside whatever the gang does next: no collective is left.
        """
        lanes, places, refs, shards = self.lanes, dict[str, range](), dict[str, ObjectRef](), dict[int, ObjectRef]()
        for rank, lane in enumerate(lanes[: self._num_shards]):
            places[lane] = shard_indices_of_rank(self._num_shards, rank=rank, world_size=len(lanes))
            publish = self._lanes[lane].actor.publish.options(num_returns=1 + len(places[lane]))
            refs[lane], *own = publish.remote(policy_version)
            shards.update(zip(places[lane], own, strict=True))

        def finish(reports: Reports) -> None:
            facts = dict[int, ShardFacts]()
            for lane, report in reports.items():
                facts.update(zip(places[lane], report.value, strict=True))
            in_order = sorted(shards)
            then(
                RemoteVersion(
                    policy_version=policy_version,
                    facts=tuple(facts[place] for place in in_order),
                    refs=tuple(shards[place] for place in in_order),
                )
            )

        self._calls.start(refs, finish)

    def save_checkpoint(
        self, uri: str, client_state: dict[str, Any], behaviour: RemoteVersion | None, then: Callable[[Reports], None]
    ) -> None:
        """`behaviour` is the older version to keep beside the weights."""
        refs = {
            lane: self._lanes[lane].actor.save_checkpoint.remote(uri, client_state, behaviour) for lane in self.lanes
        }
        self._calls.start(refs, then)

    def load_checkpoint(self, uri: str, then: Callable[[dict[str, Any], RemoteVersion | None], None]) -> None:
        """`then` gets the state that was saved, and the older version that was kept with it."""
        returns = {
            lane: self._lanes[lane].actor.load_checkpoint.options(num_returns=1 + self._num_shards).remote(uri)
            for lane in self.lanes
        }
        _, *shards = returns[self.lanes[0]]

        def finish(reports: Reports) -> None:
            restored: Restored = reports[self.lanes[0]].value
            version = restored.behaviour_version
            behaviour = None
            if version is not None:
                behaviour = RemoteVersion(policy_version=version, facts=restored.behaviour, refs=tuple(shards))
            then(restored.client_state, behaviour)

        self._calls.start({lane: refs[0] for lane, refs in returns.items()}, finish)

    def export(self, then: Callable[[Reports, dict[str, bytes]], None]) -> None:
        """`then` also gets the files in diffusers format, by path."""
        pairs = {lane: self._lanes[lane].actor.export.options(num_returns=2).remote() for lane in self.lanes}
        files = pairs[self.lanes[0]][1]
        self._calls.start({lane: refs[0] for lane, refs in pairs.items()}, partial(_with_files, then, files))


def _with_files(then: Callable[[Reports, dict[str, bytes]], None], files: ObjectRef, reports: Reports) -> None:
    then(reports, ray.get(files))
