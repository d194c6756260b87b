"""The controller: one run's loop, from lanes to trained weights. Reads top-down.

```text
        ┌──────────────────────────── a turn ────────────────────────────┐
        │ commands ─► orders            (pause, stop, samples, checkpoint)│
        │ scheduler.next_actions() ─► executor.start()  ─► actor calls    │
        │ calls.step() ◄─ answers ─► scheduler.apply(event)               │
        │ every second: queues, spans; every minute: clocks               │
        └────────────────────────────────────────────────────────────────┘

    bring up lanes ─► [restore] ─► offer first version ─► turns … ─► save ─► done
                          ▲                                 │
                          └── trainer lost: new gang, last checkpoint (bounded)

    who waits                      for what                          who unblocks it
    a turn                         the first answer of any lane      lanes (bounded: POLL_SECONDS)
    pause, stop                    the batch under way               the scheduler; a stop is bounded
    a checkpoint                   the trainer gang, reserved        `Snapshotted`, or a quiescent scheduler
    the end                        evaluation, checkpoint, LoRA      lanes
```

Invariants: the scheduler alone decides what lanes do; every event it gets is something that happened; the web is
never waited for. A lost rollout or reward lane is started again and its work repeated from the same seeds; a lost
trainer rank rewinds the run to its last checkpoint. Both are bounded and told.
"""

import logging
import time
from functools import partial
from typing import Any

from worker.contracts.events import Phase, ResumedEvent
from worker.contracts.states import RunState
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport
from worker.engine.build import build_scheduler
from worker.engine.control.batch_boundaries import BatchBoundaries
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.checkpoint_saver import CheckpointSaver
from worker.engine.control.command_queue import StopOverdueError
from worker.engine.control.lane_supervisor import LaneSupervisor
from worker.engine.control.pending_calls import PendingCalls, RewindNeededError
from worker.engine.control.ray_executor import RayExecutor
from worker.engine.control.run_components import RunComponents
from worker.engine.control.status_reporter import StatusReporter
from worker.engine.control.trainer_gang import TrainerGang
from worker.scheduling.core.messages import (
    Action,
    AdmissionClosed,
    AdmissionOpened,
    EvaluationComplete,
    Event,
    LaneJoined,
    LaneLost,
    Lend,
    LendSettled,
    Published,
    Snapshotted,
)
from worker.scheduling.core.scheduler import Scheduler

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.2
"""A turn waits no longer than this, so that commands and the web's word are heeded."""
CLOCK_SECONDS = 60.0
MAX_REWINDS = 2


class Controller:
    """Runs one attempt to its end; `run` returns when it is complete (or stopped), and raises for every other end."""

    def __init__(self, components: RunComponents) -> None:
        self._components = components
        self._answer, self._client = components.answer, components.telemetry.client
        self._metrics, self._commands, self._spans = components.metrics, components.commands, components.spans
        self._calls = PendingCalls(on_report=self._reported, on_lane_lost=self._lane_lost)
        self._gang = TrainerGang(components.lanes, self._calls)
        self._supervisor = LaneSupervisor(
            answer=components.answer,
            lanes=components.lanes,
            calls=self._calls,
            gang=self._gang,
            client=self._client,
            on_ready=self._join,
            poll_web=self._poll_web,
        )
        self._executor = RayExecutor(components=components, calls=self._calls, gang=self._gang, on_event=self._happened)
        self._saver = CheckpointSaver(
            tuning=self._answer.spec.tuning,
            gang=self._gang,
            checkpoints=components.checkpoints,
            versions=components.versions,
            spans=components.spans,
            client=self._client,
            uploader=components.telemetry.uploader,
        )
        self._status = StatusReporter(self._client)
        self._boundaries = BatchBoundaries(components, self._saver, self._status)
        self._scheduler: Scheduler | None = None
        self._is_admitting = True
        self._is_paused = False
        self._next_clock = 0.0

    # --- the run, top-down ------------------------------------------------------------------------------------------

    def run(self) -> None:
        """From lanes to LoRA. Raises `RunCancelledError`, `StopOverdueError`, `FencedError` or what made it fail."""
        self._status.enter(Phase.PLACE_LANES)
        self._spans.begin()
        self._supervisor.place_all()
        self._status.enter(Phase.LOAD_MODEL)
        self._supervisor.load_all()
        self._wait_for_calls()
        for num_rewinds in range(MAX_REWINDS + 1):
            try:
                self._train_to_the_end()
                break
            except RewindNeededError as error:
                if num_rewinds == MAX_REWINDS:
                    raise
                logger.error("back to the last checkpoint (%d of %d): %s", num_rewinds + 1, MAX_REWINDS, error)
                self._start_over()
        self._status.enter(Phase.FINISH)
        self._components.versions.keep_only(())
        self._commands.refuse_all("the run has ended")

    @property
    def ending(self) -> tuple[RunState, str]:
        """The state in which `run` left the run, and why in a few words."""
        done, wanted = self._metrics.position.batch, self._answer.spec.num_batches
        if done == wanted:
            return RunState.COMPLETED, f"all {wanted} batches are done"
        return RunState.STOPPED, f"stopped after batch {done} of {wanted}"

    def close(self) -> None:
        """Free the lanes, and report their last spans and the schedule log's last lines."""
        self._components.schedule_log.flush()
        self._spans.end()
        self._components.lanes.close()

    def _train_to_the_end(self) -> None:
        self._begin(self._restore())
        scheduler = self._current
        while not (scheduler.state.is_finished or (self._commands.stop_wanted and scheduler.state.is_at_boundary)):
            if self._commands.is_stop_overdue and scheduler.state.has_open_batch:
                self._give_up_batch()
            self._turn(scheduler)
        if not self._boundaries.final_save_begun:
            self._boundaries.save(final=True)
            if self._components.evaluations.is_due(self._metrics.position.batch, is_end=True):
                self._boundaries.evaluate()
        while not (
            scheduler.state.is_quiescent or (self._commands.is_stop_overdue and self._boundaries.final_save_done)
        ):
            self._turn(scheduler)

    def _give_up_batch(self) -> None:
        """Optimizer steps of the batch may be taken: only the checkpoints of earlier boundaries are whole."""
        kept = self._components.checkpoints.latest or self._answer.resume_from
        raise StopOverdueError(
            f"stopped: batch {self._metrics.position.batch + 1} was not done {self._answer.stop_seconds:.0f} s later "
            f"and was given up; {f'the checkpoint {kept} stays' if kept else 'there was no checkpoint yet'}",
            checkpoint=kept,
        )

    def _restore(self) -> RunPosition:
        """Load the newest checkpoint, if there is one, on all ranks."""
        uri = self._components.checkpoints.latest or self._answer.resume_from
        position = RunPosition()
        if uri is not None:
            self._status.enter(Phase.RESTORE, uri)
            position = self._load_checkpoint(uri)
        elif not self._status.has_run:
            return position
        self._client.emit(
            ResumedEvent,
            batch=position.batch,
            policy_version=position.policy_version,
            optimizer_step=position.optimizer_step,
        )
        return position

    def _load_checkpoint(self, uri: str) -> RunPosition:
        found: list[RunPosition] = []

        def finish(client_state: dict[str, Any], behaviour: RemoteVersion | None) -> None:
            found.append(RunPosition(**client_state))
            if behaviour is not None:
                self._components.versions.add_restored(behaviour)

        self._gang.load_checkpoint(uri, finish)
        self._wait_for_calls()
        return found[0]

    def _begin(self, position: RunPosition) -> None:
        """Offer the first version, let the lanes join a new scheduler, ask for the first evaluation."""
        began_at = self._components.clock.now()
        self._gang.snapshot(position.policy_version, lambda _: None)
        self._wait_for_calls()
        self._gang.publish(position.policy_version, partial(self._components.versions.add, began_at=began_at))
        self._wait_for_calls()
        self._metrics.begin(position)
        self._scheduler = build_scheduler(self._answer, position, self._components.schedule_log)
        self._boundaries.begin(self._scheduler)
        self._spans.follow(self._scheduler.state.idle_cause, self._scheduler.state.idle_state)
        self._is_admitting = True
        for lane in sorted(self._supervisor.ready):
            self._join(lane)
        self._report_state()
        is_edge = position.batch in (0, self._answer.spec.num_batches)
        if is_edge and self._components.evaluations.is_due(position.batch) and not self._commands.stop_wanted:
            self._boundaries.evaluate()
        else:
            self._status.enter(Phase.TRAIN)

    def _start_over(self) -> None:
        """After a trainer rank was lost: a new gang, and nothing remembered of what was under way."""
        self._components.samples.life += 1
        self._saver.life += 1
        self._scheduler = None
        self._components.fragments.clear()
        self._components.advantages.clear()
        self._components.versions.clear()
        self._components.evaluations.restart()
        self._components.lends.restart()
        self._status.enter(Phase.LOAD_MODEL, "new trainer ranks")
        self._supervisor.restart_gang()
        self._wait_for_calls()

    # --- one turn ---------------------------------------------------------------------------------------------------

    def _turn(self, scheduler: Scheduler) -> None:
        self._poll_web()
        self._follow_orders(scheduler)
        for action in scheduler.next_actions(self._now()):
            self._start(action)
        self._spans.settle(is_paused=self._is_paused)
        self._step_calls()
        self._report_regularly(scheduler)

    def _start(self, action: Action) -> None:
        match action:
            case EvaluationComplete():
                self._boundaries.evaluation_complete(action)
            case Lend():
                self._components.lends.made(action)
            case LendSettled():
                self._components.lends.settled(action)
            case _:
                self._executor.start(action)

    def _poll_web(self) -> None:
        self._components.telemetry.check()
        self._commands.take_new()

    def _step_calls(self) -> None:
        if len(self._calls):
            self._calls.step(POLL_SECONDS)
        else:
            time.sleep(POLL_SECONDS)

    def _wait_for_calls(self) -> None:
        """Outside of turns: until every call made so far has answered."""
        while len(self._calls):
            self._poll_web()
            self._calls.step(POLL_SECONDS)
            self._spans.settle(is_paused=False)

    def _follow_orders(self, scheduler: Scheduler) -> None:
        """Bring scheduler and state in line with what the user wants now."""
        commands = self._commands
        wants_admission = not (commands.pause_wanted or commands.stop_wanted)
        if wants_admission != self._is_admitting:
            self._is_admitting = wants_admission
            scheduler.apply(AdmissionOpened() if wants_admission else AdmissionClosed(), self._now())
        self._boundaries.follow_orders()
        self._is_paused = commands.pause_wanted and (self._is_paused or scheduler.state.is_quiescent)
        self._report_state()

    def _report_state(self) -> None:
        self._status.state(
            batch=self._metrics.position.batch, is_paused=self._is_paused, is_stopping=self._commands.stop_wanted
        )

    def _report_regularly(self, scheduler: Scheduler) -> None:
        self._status.queues(scheduler.state.queues, batch=self._metrics.position.batch)
        now = time.monotonic()
        if now >= self._next_clock:
            self._next_clock = now + CLOCK_SECONDS
            self._components.lanes.measure_clocks(self._supervisor.ready - self._calls.busy_lanes)

    # --- what happened ----------------------------------------------------------------------------------------------

    def _reported(self, lane: str, report: CallReport[Any]) -> None:
        for record in report.logs:
            self._components.telemetry.logs.forward(lane, record)

    def _happened(self, event: Event) -> None:
        scheduler = self._current
        scheduler.apply(event, self._now())
        match event:
            case Snapshotted():
                self._boundaries.batch_trained()
            case Published():
                self._components.versions.keep_only(scheduler.state.needed_versions)
                self._status.costs(scheduler.state.costs, batch=scheduler.state.batches_completed)
                self._boundaries.batch_complete()
                self._components.schedule_log.flush()

    def _lane_lost(self, lane: str, reason: str) -> None:
        """Raises `RewindNeededError` for a trainer rank."""
        scheduler = self._scheduler
        if scheduler is not None and lane in self._supervisor.ready:
            scheduler.apply(LaneLost(lane), self._now())
        self._spans.lost(lane)
        self._supervisor.lost(lane, reason)

    def _join(self, lane: str) -> None:
        self._spans.returned(lane)
        if self._scheduler is not None:
            role = self._components.lanes[lane].grant.role
            self._scheduler.apply(LaneJoined(lane, role, None), self._now())

    def _now(self) -> float:
        return self._components.clock.now()

    @property
    def _current(self) -> Scheduler:
        assert self._scheduler is not None, "asked for after `_begin`"
        return self._scheduler
