"""Re-plans a run on `auto` while it works: asks after batches, carries the answer out, reports the plan.

```text
version published ─► due? ─► question to another process ─► answer ─► lanes moved by the resizer ─┐
                                                                      (trainers: at a boundary;   ├─► `plan` event
                                                                      placement: run drained)     │
                                                                 └─► switches, fragments to come ─┘
```

Invariants: the loop never waits for an answer, and one that was asked for other lanes than the run has by then, or
before a rewind, is dropped; a plan is reported once the run works by it. Each change of the trainer gang, tried or
done, or of the fragment size doubles the number of batches before the next question, so a run of n batches tries at
most about log2 n of them, whatever is measured.
"""

import logging
import uuid
from dataclasses import dataclass

from worker.contracts.events import PlanEvent
from worker.contracts.names import LaneRole
from worker.contracts.replanning import ReplanBasis
from worker.contracts.resizing import Resize, ResizeCause, ResizeState, RoleChange, TrainerChangeSeconds
from worker.engine.control.lane_supervisor import LaneSupervisor
from worker.engine.control.replanning_process import ReplanningProcess
from worker.engine.control.resizer import Resizer, ResizeRefusedError
from worker.engine.control.run_components import RunComponents
from worker.engine.control.slow_lanes import SlowLanes
from worker.scheduling.core.costs import dump_costs
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.replanning.cadence import Cadence
from worker.scheduling.replanning.question import ReplanAnswer, ReplanQuestion

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Pending:
    """A plan whose lanes are being moved."""

    resize_id: str
    answer: ReplanAnswer


class Replanner:
    """Asks, carries out, reports; does nothing for a run whose user chose placement."""

    def __init__(self, components: RunComponents, supervisor: LaneSupervisor, resizer: Resizer) -> None:
        self._components = components
        self._supervisor, self._resizer = supervisor, resizer
        self._basis: ReplanBasis | None = components.answer.replan
        self._process = ReplanningProcess()
        self._slow_lanes = SlowLanes(components.telemetry.client)
        self._cadence = Cadence()
        self._pending: _Pending | None = None
        self._asked: ReplanQuestion | None = None
        self._scheduler: Scheduler | None = None
        self.pipeline = components.answer.spec.pipeline
        """The run's present switches."""
        self.fragment_size = components.answer.spec.algebra.fragment_size
        """Trajectories of a fragment, in batches that begin from now on."""

    def begin(self, scheduler: Scheduler) -> None:
        """Work with a new scheduler, at first or after a rewind."""
        self._scheduler = scheduler
        if self._pending is not None:
            # The gang is still to be replaced, by one that is loaded for the switches to come.
            self._supervisor.pipeline = self._pending.answer.pipeline
        self._cadence.restart(self._batch)

    def rewind(self) -> None:
        """The run goes back to its last checkpoint: the gang is about to be loaded anew, for the switches that the run
        goes on with. An answer under way may count on what the lanes were loaded for before, so it is dropped."""
        self._process.close()
        if self._pending is not None:
            self._settle(self._pending)
        self._supervisor.pipeline = self.pipeline

    def batch_complete(self) -> None:
        """A version was published: note when, and ask how to go on where that is due."""
        if self._basis is None or self._scheduler is None:
            return
        costs = self._scheduler.state.costs
        self._cadence.completed(self._batch, self._components.clock.now(), is_in_doubt=costs.is_in_doubt)
        is_busy = self._process.is_busy or self._pending is not None or self._resizer.is_busy
        if is_busy or self._batches_left <= 0:
            return
        measured = costs.measured()
        if not self._cadence.is_due(self._roles, measured, self._process.cpu_seconds):
            return
        self._asked = self._question(self._basis, self._scheduler)
        self._cadence.asked(self._roles, measured)
        self._process.ask(self._asked)

    def step(self) -> None:
        """Carry out what was answered, and report what is done; called once per iteration of the controller's loop."""
        if self._pending is not None:
            self._settle(self._pending)
            return
        answer = self._process.take_answer()
        if answer is None or self._asked is None:
            return
        logger.info("after batch %d: %s", self._batch, answer.reason)
        self._name_slow(answer)
        if not answer.is_change:
            self._cadence.stays(answer.batch_seconds)
        elif self._asked.roles == self._roles and self._batches_left > 0:
            self._carry_out(answer, self._asked)

    def close(self) -> None:
        self._process.close()

    @property
    def drains(self) -> bool:
        """Whether a plan of another placement or staleness is carried out, for which no batch may be open."""
        return self._pending is not None and self._pending.answer.drains

    # --- the question -----------------------------------------------------------------------------------------------

    def _question(self, basis: ReplanBasis, scheduler: Scheduler) -> ReplanQuestion:
        return ReplanQuestion(
            basis=basis,
            roles=self._roles,
            joined=self._components.lanes.profiles(),
            pipeline=self.pipeline,
            fragment_size=self.fragment_size,
            can_lend=self._supervisor.gang_pipeline.trainers_generate,
            measured=dump_costs(scheduler.state.costs.measured()),
            share_without_spread=scheduler.state.work.spread.without_spread,
            batches_left=self._batches_left,
            num_changes=self._cadence.num_changes,
        )

    @property
    def _roles(self) -> dict[str, LaneRole]:
        """The run's own lanes: borrowed ones come and go, so no plan counts on them or gives them another role."""
        return self._components.lanes.own_roles()

    @property
    def _batch(self) -> int:
        assert self._scheduler is not None, "`begin` was called first"
        return self._scheduler.state.batches_completed

    @property
    def _batches_left(self) -> int:
        """Batches after the one under way, at whose end a change takes effect."""
        return self._components.answer.spec.num_batches - self._batch - 1

    # --- the answer -------------------------------------------------------------------------------------------------

    def _carry_out(self, answer: ReplanAnswer, asked: ReplanQuestion) -> None:
        release = tuple(sorted(set(asked.roles) - set(answer.roles)))
        moved = {lane for lane, role in answer.roles.items() if asked.roles[lane] is not role}
        trainers = {lane for lane, role in answer.roles.items() if role is LaneRole.TRAINER}
        if (
            answer.renews_gang
            and all(asked.roles[lane] is LaneRole.TRAINER for lane in trainers)
            and not any(asked.roles[lane] is LaneRole.TRAINER for lane in {*moved, *release})
        ):
            # The same lanes train, and their processes are loaded to generate as well.
            moved |= trainers
        change = tuple(RoleChange(lane=lane, role=role) for lane, role in answer.roles.items() if lane in moved)
        if not release and not change:
            self._adopt(answer, seconds=None)
            return
        resize_id = str(uuid.uuid4())
        before = self._supervisor.pipeline
        # A new gang is loaded for the switches to come.
        self._supervisor.pipeline = answer.pipeline
        try:
            self._resizer.start(
                resize_id, Resize(release=release, change=change, cause=ResizeCause.PLAN), drains=answer.drains
            )
        except ResizeRefusedError as error:
            self._supervisor.pipeline = before
            logger.warning("the new plan is not carried out: %s", error)
            return
        self._pending = _Pending(resize_id, answer)

    def _settle(self, pending: _Pending) -> None:
        """Adopt the answer once the lanes are in their places, or the gang is replaced: the new one is loaded for its
        switches alone, whatever becomes of the lanes that are to generate or are let go."""
        report = self._resizer.reported
        if report is None or report.id != pending.resize_id:
            return
        is_gang_replaced = report.trainer_seconds is not None
        if report.state is ResizeState.ACCEPTED and not is_gang_replaced:
            return
        self._pending = None
        if report.state is ResizeState.FAILED and not is_gang_replaced:
            logger.warning("the new plan came to nothing: %s", report.reason)
            self._supervisor.pipeline = self.pipeline
            if pending.answer.renews_gang:
                # It cost a checkpoint, and mostly a start of the old gang: tried after every batch, it would take most
                # of the time.
                self._cadence.changed(self._batch, pending.answer.seconds_before, only_switches=False)
            return
        self._adopt(pending.answer, seconds=report.trainer_seconds)

    def _name_slow(self, answer: ReplanAnswer) -> None:
        """Name the lanes that the answer found far slower than their kind, as far as the run has them still."""
        roles = self._roles
        self._slow_lanes.found(
            {lane: factor for lane, factor in answer.slow.items() if lane in roles}, batch=self._batch
        )

    def _adopt(self, answer: ReplanAnswer, *, seconds: TrainerChangeSeconds | None) -> None:
        """Work by the answer from now on, and report it. `seconds`: of the change of the trainer lanes."""
        assert self._scheduler is not None, "`begin` was called first"
        only_switches = seconds is None and answer.fragment_size == self.fragment_size
        self.pipeline = self._supervisor.pipeline = answer.pipeline
        self.fragment_size = answer.fragment_size
        self._scheduler.revise(answer.pipeline, answer.fragment_size, lending_policy(answer.pipeline))
        self._cadence.changed(self._batch, answer.batch_seconds, only_switches=only_switches)
        self._name_slow(answer)
        self._components.telemetry.client.emit(
            PlanEvent,
            batch=self._batch,
            reason=answer.reason,
            pipeline=answer.pipeline,
            fragment_size=answer.fragment_size,
            lanes=self._roles,
            seconds_before=answer.seconds_before,
            batch_seconds=answer.batch_seconds,
            bound_seconds=answer.bound_seconds,
            predicted_move_seconds=answer.move_seconds,
            move_seconds=0.0 if seconds is None else seconds.total,
        )
