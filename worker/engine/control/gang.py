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
from worker.contracts.names import Role
from worker.engine.actors.reports import AccumulationPlan, AdapterFacts, Restored
from worker.engine.control.calls import CallTable, Reports
from worker.engine.control.lanes import LaneFleet

RENDEZVOUS_TIMEOUT_SECONDS = 30.0


class TrainerGang:
    def __init__(self, fleet: LaneFleet, calls: CallTable) -> None:
        self._fleet = fleet
        self._calls = calls

    @property
    def lanes(self) -> list[str]:
        """The ranks' lanes; rank 0 first."""
        return self._fleet.names(Role.TRAINER)

    def load(self, answer: BootstrapAnswer, then: Callable[[Reports], None]) -> None:
        """Form the process group and load the model on every rank."""
        lanes = self.lanes
        first = self._fleet[lanes[0]].actor
        meeting = ray.get(first.rendezvous.remote(), timeout=RENDEZVOUS_TIMEOUT_SECONDS)
        refs = {
            lane: self._fleet[lane].actor.load.remote(
                answer.spec, answer.base_model_path, rank, len(lanes), meeting, answer.initial_adapter, answer.prompts
            )
            for rank, lane in enumerate(lanes)
        }
        self._calls.start(refs, then)

    def accumulate(
        self,
        plan: AccumulationPlan,
        behaviour: ObjectRef | None,
        trajectories: Sequence[ObjectRef],
        then: Callable[[Reports], None],
    ) -> None:
        """`trajectories` are those of the plan's groups, flat and in order; `behaviour` the adapter that drew them."""
        refs = {lane: self._fleet[lane].actor.accumulate.remote(plan, behaviour, *trajectories) for lane in self.lanes}
        self._calls.start(refs, then)

    def commit(self, then: Callable[[Reports], None]) -> None:
        self._calls.start({lane: self._fleet[lane].actor.commit.remote() for lane in self.lanes}, then)

    def snapshot(self, policy_version: int, then: Callable[[Reports], None]) -> None:
        """Copy the weights as they are now, for `publish`."""
        refs = {lane: self._fleet[lane].actor.snapshot.remote(policy_version) for lane in self.lanes}
        self._calls.start(refs, then)

    def publish(self, policy_version: int, then: Callable[[AdapterFacts, ObjectRef], None]) -> None:
        """Make a version of the last snapshot; `then` gets its facts and the reference that rollout lanes pull.

        Rank 0 does it beside whatever the gang does next: it holds all there is to copy, and no collective is left.
        """
        first = self.lanes[0]
        report, adapter = self._fleet[first].actor.publish.options(num_returns=2).remote(policy_version)
        self._calls.start({first: report}, lambda reports: then(reports[first].value, adapter))

    def save_checkpoint(
        self, uri: str, client_state: dict[str, Any], behaviour: ObjectRef | None, then: Callable[[Reports], None]
    ) -> None:
        """`behaviour` is the older adapter to keep beside the weights."""
        refs = {
            lane: self._fleet[lane].actor.save_checkpoint.remote(uri, client_state, behaviour) for lane in self.lanes
        }
        self._calls.start(refs, then)

    def load_checkpoint(self, uri: str, then: Callable[[Restored, ObjectRef], None]) -> None:
        """`then` gets what came back, and the reference of the older adapter that it may speak of."""
        pairs = {
            lane: self._fleet[lane].actor.load_checkpoint.options(num_returns=2).remote(uri) for lane in self.lanes
        }
        first = self.lanes[0]
        behaviour = pairs[first][1]

        def finish(reports: Reports) -> None:
            then(reports[first].value, behaviour)

        self._calls.start({lane: refs[0] for lane, refs in pairs.items()}, finish)

    def export_lora(self, then: Callable[[Reports, bytes], None]) -> None:
        """`then` also gets the bytes of the LoRA file."""
        pairs = {lane: self._fleet[lane].actor.export_lora.options(num_returns=2).remote() for lane in self.lanes}
        content = pairs[self.lanes[0]][1]
        self._calls.start({lane: refs[0] for lane, refs in pairs.items()}, partial(_with_content, then, content))


def _with_content(then: Callable[[Reports, bytes], None], content: ObjectRef, reports: Reports) -> None:
    then(reports, ray.get(content))
