"""The controller: the loop of one attempt of a run, from lanes to trained weights. Reads top-down.

```text
        ┌──────────────────────── an iteration of the loop ───────────────────────┐
        │ commands ─► admission, boundaries, resizer  (pause, stop, save, resize) │
        │ replanner: answers carried out              (`placement: auto`)         │
        │ scheduler.next_actions() ─► executor.start() ─► actor calls             │
        │ calls.step() ◄─ reports ─► scheduler.apply(event)                       │
        │ every second: queue depths, spans; every minute: the lanes' clocks      │
        └─────────────────────────────────────────────────────────────────────────┘

    start lanes ─► [restore] ─► publish first version ─► iterations … ─► save ─► finished
                       ▲                                     │
                       ├── trainer lost: new gang, last checkpoint (bounded)
                       └── new gang of a resize cannot start: the old one, from the checkpoint written for it

    what waits                     for what                           what unblocks it
    an iteration                   the first report of any lane       lanes (bounded: POLL_SECONDS)
    a pause, a stop                the open batch                     the scheduler; a stop is bounded
    a checkpoint                   the trainer gang, reserved         `Snapshotted`, or a quiescent scheduler
    a resize                       fragments under way; for trainer   `Leave`; `Snapshotted`, or a quiescent
                                   lanes, the end of the batch        scheduler
    the end                        evaluation, checkpoint, export     lanes
```

Invariants: the scheduler alone decides what lanes do; every event it receives is something that happened; the driver
never waits for the web. A lane that hangs is ended, and so lost. A lost rollout or reward lane is restarted and its
work repeated from the same seeds; a lost trainer rank rewinds the run to a checkpoint. All is bounded and reported.
"""

import logging
import time
from functools import partial
from typing import Any

import ray

from worker.contracts.lane_events import OutOfMemoryEvent
from worker.contracts.lanes import LaneWork
from worker.contracts.states import Phase, RunState
from worker.engine.actors.reports import CallReport
from worker.engine.build import build_scheduler
from worker.engine.control.admission_control import AdmissionControl
from worker.engine.control.batch_boundaries import BatchBoundaries
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.checkpoint_restorer import CheckpointRestorer
from worker.engine.control.checkpoint_saver import CheckpointSaver
from worker.engine.control.command_queue import StopOverdueError
from worker.engine.control.lane_output import log_last_output
from worker.engine.control.lane_supervisor import LaneSupervisor
from worker.engine.control.lane_watchdog import LaneWatchdog
from worker.engine.control.pending_calls import PendingCalls, RewindNeededError
from worker.engine.control.ray_executor import RayExecutor
from worker.engine.control.replanner import Replanner
from worker.engine.control.resizer import Resizer
from worker.engine.control.run_components import RunComponents
from worker.engine.control.status_reporter import StatusReporter
from worker.engine.control.trainer_change import TrainerChangeError
from worker.engine.control.trainer_gang import TrainerGang
from worker.engine.control.watch_limits import WatchLimits
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.messages import (
    Action,
    EvaluationComplete,
    Event,
    LaneJoined,
    LaneLost,
    Leave,
    Lend,
    LendSettled,
    Measured,
    Published,
    Snapshotted,
)
from worker.scheduling.core.scheduler import Scheduler

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.2
"""The longest wait of one iteration, so that commands and the web's refusals take effect soon."""
CLOCK_INTERVAL_SECONDS = 60.0
"""How often the clocks of idle lanes are measured: clocks of one cluster drift by milliseconds in that time."""
MAX_REWINDS = 2
"""The most rewinds of one attempt: trainer ranks that are lost more often have a cause that a rewind does not
remove."""


class Controller:
    """Runs one attempt to its end: `run` returns when the run is complete or stopped, and raises for every other
    end."""

    def __init__(self, components: RunComponents) -> None:
        self._components = components
        self._answer, self._client = components.answer, components.telemetry.client
        self._metrics, self._commands, self._spans = components.metrics, components.commands, components.spans
        self._calls = PendingCalls(on_report=self._reported, on_lane_lost=self._lane_lost)
        self._watchdog = LaneWatchdog(
            calls=self._calls,
            lanes=components.lanes,
            client=self._client,
            limits=WatchLimits.of(self._answer),
            on_hung=self._lane_hung,
        )
        self._gang = TrainerGang(components, self._calls, ready=lambda: self._supervisor.ready)
        self._supervisor = LaneSupervisor(
            answer=components.answer,
            # Once into the object store, however many lanes read them.
            prompts=ray.put(components.prompts.of_run),
            lanes=components.lanes,
            calls=self._calls,
            gang=self._gang,
            client=self._client,
            on_ready=self._join,
            poll_web=self._poll_web,
        )
        self._executor = RayExecutor(
            components, self._calls, self._gang, lambda: self._current.state.generators, self._handle_event
        )
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
        self._restorer = CheckpointRestorer(components, self._gang, self._status, self._wait_for_calls)
        self._boundaries = BatchBoundaries(components, self._saver, self._status)
        self._admission = AdmissionControl(components.commands)
        self._resizer = Resizer(components, self._calls, self._gang, self._supervisor, self._boundaries)
        self._replanner = Replanner(components, self._supervisor, self._resizer)
        self._scheduler: Scheduler | None = None
        """The scheduler since the last start or rewind; `None` while lanes are brought up."""
        self._next_clock_probe = 0.0
        """The driver's monotonic clock when lane clocks are next measured."""

    # --- the run, top-down ------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Bring up lanes, train, save.

        Raises:
            RunCancelledError: when a user cancels the run.
            StopOverdueError: when the open batch of a stopped run takes too long.
            FencedError: when a newer attempt exists or the run has ended.
            Exception: any other error, which has failed the run.
        """
        self._status.enter(Phase.PLACE_LANES)
        self._spans.begin()
        self._supervisor.place_all()
        self._status.enter(Phase.LOAD_MODEL)
        self._train_to_the_end()
        self._status.enter(Phase.FINISH)
        self._components.versions.keep_only(())
        self._commands.refuse_all("the run has ended")
        self._resizer.close("the run has ended")

    @property
    def outcome(self) -> tuple[RunState, str]:
        """The run's state after `run` has returned, and the reason."""
        num_done, num_batches = self._metrics.position.batch, self._answer.spec.num_batches
        if num_done == num_batches:
            return RunState.COMPLETED, f"all {num_batches} batches are done"
        return RunState.STOPPED, f"stopped after batch {num_done} of {num_batches}"

    def close(self) -> None:
        """End the lanes, and report their last spans and the schedule log's last lines."""
        self._replanner.close()
        self._components.schedule_log.flush()
        self._spans.end()
        self._components.lanes.close()

    def tidy(self) -> None:
        """Remove old checkpoints that were kept because the web did not know of newer ones."""
        self._components.checkpoints.tidy(self._client.acknowledged_seq)

    def _train_to_the_end(self) -> None:
        """Train, and go back to the last checkpoint as often as that is allowed."""
        num_rewinds = 0
        while True:
            try:
                self._train()
                return
            except TrainerChangeError as error:
                logger.error("the trainer gang could not be replaced, the run goes on with the old one: %s", error)
                self._rewind(str(error))
            except RewindNeededError as error:
                if num_rewinds == MAX_REWINDS:
                    raise
                num_rewinds += 1
                logger.error("the run goes back to its last checkpoint (%d of %d): %s", num_rewinds, MAX_REWINDS, error)
                self._rewind(str(error))

    def _train(self) -> None:
        """Train from the newest checkpoint to the end of the run, or until it is stopped. Raises `RewindNeededError`
        when a trainer rank is lost, and `TrainerChangeError` when a new gang cannot be started."""
        self._wait_for_gang()
        self._begin(self._restorer.restore())
        scheduler = self._current
        while not (scheduler.state.is_finished or (self._commands.stop_wanted and scheduler.state.is_at_boundary)):
            if self._commands.is_stop_overdue and scheduler.state.has_open_batch:
                self._give_up_batch()
            self._iterate(scheduler)
        if not self._boundaries.is_final_save_begun:
            self._boundaries.save(final=True)
            if self._components.evaluations.is_due(self._metrics.position.batch, is_end=True):
                self._boundaries.evaluate()
        while not (
            (scheduler.state.is_quiescent and not self._gang.is_storing)
            or (self._commands.is_stop_overdue and self._boundaries.is_final_save_done)
        ):
            self._iterate(scheduler)

    def _give_up_batch(self) -> None:
        """End the run without a checkpoint: optimizer steps of the open batch may be taken, and none is consistent
        now."""
        kept = self._components.checkpoints.latest or self._answer.resume_from
        raise StopOverdueError(
            f"stopped: batch {self._metrics.position.batch + 1} was not done {self._answer.stop_seconds:.0f} s later "
            f"and was given up; {f'the checkpoint {kept} stays' if kept else 'there was no checkpoint yet'}",
            checkpoint=kept,
        )

    def _begin(self, position: RunPosition) -> None:
        """Publish the first version, let the lanes join a new scheduler, start the first evaluation."""
        began_at = self._components.clock.now()
        self._gang.snapshot(position.policy_version, lambda _: None)
        self._wait_for_calls()
        self._gang.publish(position.policy_version, partial(self._components.versions.add, began_at=began_at))
        self._wait_for_calls()
        self._metrics.begin(position)
        self._scheduler = build_scheduler(
            self._answer,
            position,
            self._components.schedule_log,
            pipeline=self._replanner.pipeline,
            fragment_size=self._replanner.fragment_size,
        )
        self._boundaries.begin(self._scheduler)
        self._resizer.begin(self._scheduler)
        self._replanner.begin(self._scheduler)
        starts = {CostKind.START: self._supervisor.gang_start_seconds, CostKind.RESTORE: self._restorer.seconds}
        for kind, seconds in starts.items():
            if seconds is not None:
                self._scheduler.apply(Measured(GANG, kind, seconds), self._now())
        self._spans.follow(self._scheduler.state.idle_cause, self._scheduler.state.idle_state)
        self._admission.begin()
        for lane in sorted(self._supervisor.ready):
            self._join(lane)
        self._report_state()
        if self._components.evaluations.is_due_first(position.batch) and not self._commands.stop_wanted:
            self._boundaries.evaluate()
        else:
            self._status.enter(Phase.TRAIN)

    def _rewind(self, reason: str) -> None:
        """After a trainer rank was lost, or could not be replaced: drop everything that was under way, and bring up the
        gang anew."""
        self._scheduler = None
        self._resizer.rewind(reason)
        self._replanner.rewind()
        self._components.rewind()
        self._status.enter(Phase.LOAD_MODEL, "new trainer ranks")
        self._supervisor.restart_gang()

    # --- one iteration ----------------------------------------------------------------------------------------------

    def _iterate(self, scheduler: Scheduler) -> None:
        """Read commands, start what the scheduler decides, handle reports for up to `POLL_SECONDS`."""
        self._poll_web()
        self._apply_commands(scheduler)
        for action in scheduler.next_actions(self._now()):
            self._start(action)
        self._spans.settle(is_paused=self._admission.is_paused)
        self._step_calls()
        self._report_regularly(scheduler)

    def _start(self, action: Action) -> None:
        match action:
            case EvaluationComplete():
                self._boundaries.evaluation_complete(action)
            case Leave(lane):
                self._resizer.left(lane)
            case Lend():
                self._components.lends.decided(action)
            case LendSettled():
                self._components.lends.settled(action)
            case _:
                self._executor.start(action)

    def _poll_web(self) -> None:
        """Read what the web has sent; raises what must end the run."""
        self._components.telemetry.check()
        self._commands.take_new()

    def _step_calls(self) -> None:
        if len(self._calls):
            self._calls.step(POLL_SECONDS)
            self._watchdog.step()
        else:
            time.sleep(POLL_SECONDS)

    def _wait_for_gang(self) -> None:
        """Wait until the trainer ranks are ready: they can restore a checkpoint while other lanes still load."""
        while not self._supervisor.ready.issuperset(self._gang.lanes):
            self._wait_a_moment()

    def _wait_for_calls(self) -> None:
        """Wait until every call made so far has answered; used while no scheduler is running."""
        while len(self._calls):
            self._wait_a_moment()

    def _wait_a_moment(self) -> None:
        self._poll_web()
        self._calls.step(POLL_SECONDS)
        self._watchdog.step()
        self._spans.settle(is_paused=False)

    def _apply_commands(self, scheduler: Scheduler) -> None:
        self._admission.apply_commands(scheduler, self._now(), drains=self._replanner.drains)
        self._boundaries.start_requested()
        self._resizer.start_requested()
        self._resizer.step()
        self._replanner.step()
        self._admission.update_pause(scheduler)
        self._report_state()

    def _report_state(self) -> None:
        self._status.state(
            batch=self._metrics.position.batch,
            is_paused=self._admission.is_paused,
            is_stopping=self._commands.stop_wanted,
        )

    def _report_regularly(self, scheduler: Scheduler) -> None:
        self._status.queues(scheduler.state.queues, batch=self._metrics.position.batch)
        now = time.monotonic()
        if now >= self._next_clock_probe:
            self._next_clock_probe = now + CLOCK_INTERVAL_SECONDS
            self._components.lanes.measure_clocks(self._supervisor.ready - self._calls.busy_lanes)

    # --- events -----------------------------------------------------------------------------------------------------

    def _reported(self, lane: str, work: LaneWork, report: CallReport[Any]) -> None:
        self._watchdog.answered(lane, work, report)
        for record in report.logs:
            self._components.telemetry.logs.forward(lane, record)
        for shortage in report.shortages:
            self._client.emit(OutOfMemoryEvent, lane=lane, shortage=shortage, sentence=shortage.sentence)

    def _handle_event(self, event: Event) -> None:
        """Pass an event on to the scheduler, and do what is due between batches."""
        scheduler = self._current
        scheduler.apply(event, self._now())
        match event:
            case Snapshotted() if self._resizer.wants_boundary:
                self._resizer.at_boundary()
            case Snapshotted():
                self._boundaries.batch_trained()
            case Published():
                self._components.versions.keep_only(scheduler.state.needed_versions)
                self._status.costs(scheduler.state.costs, batch=scheduler.state.batches_completed)
                self._boundaries.batch_complete()
                self._replanner.batch_complete()
                self._components.schedule_log.flush()

    def _lane_lost(self, lane: str, reason: str) -> None:
        """Report a dead lane to the scheduler and restart it. Raises `RewindNeededError` for a trainer rank."""
        scheduler = self._scheduler
        if scheduler is not None and lane in self._supervisor.ready:
            scheduler.apply(LaneLost(lane), self._now())
        self._gang.lane_lost(lane, reason)
        self._spans.lost(lane)
        log_last_output(lane, self._components.lanes[lane].location)
        if not self._resizer.lost(lane, reason):
            self._supervisor.lost(lane, reason)

    def _lane_hung(self, lane: str, reason: str) -> None:
        """End a lane that does not go on, which is lost with that. Raises as `_lane_lost`."""
        self._components.lanes.end_process(lane)
        self._calls.forget_lane(lane)
        self._lane_lost(lane, reason)

    def _join(self, lane: str) -> None:
        """Let a lane that is ready join the scheduler."""
        self._spans.returned(lane)
        if self._scheduler is not None:
            role = self._components.lanes.role(lane)
            self._scheduler.apply(LaneJoined(lane, role, None), self._now())
            self._resizer.ready(lane)

    def _now(self) -> float:
        return self._components.clock.now()

    @property
    def _current(self) -> Scheduler:
        assert self._scheduler is not None, "`_begin` was called first"
        return self._scheduler
