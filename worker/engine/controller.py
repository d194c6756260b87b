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
from dataclasses import replace
from functools import partial
from typing import Any

from worker.contracts.events import Phase, ResumedEvent
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport
from worker.engine.build import build_scheduler
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.checkpoint_saver import CheckpointSaver, SaveRequest
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
    Purpose,
    Snapshotted,
    TrainerReleased,
    TrainerReserved,
)
from worker.scheduling.core.scheduler import Scheduler

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.2
"""A turn waits no longer than this, so that commands and the web's word are heeded."""
CLOCK_SECONDS = 60.0
MAX_REWINDS = 2


class Controller:
    """Runs one attempt to its end; `run` returns when it is complete (or stopped), and raises for every other end."""

    def __init__(self, parts: RunComponents) -> None:
        self._parts = parts
        self._answer, self._client = parts.answer, parts.telemetry.client
        self._progress, self._commands, self._timeline = parts.progress, parts.commands, parts.timeline
        self._calls = PendingCalls(on_report=self._reported, on_lane_lost=self._lane_lost)
        self._gang = TrainerGang(parts.fleet, self._calls)
        self._roster = LaneSupervisor(
            answer=parts.answer,
            fleet=parts.fleet,
            calls=self._calls,
            gang=self._gang,
            client=self._client,
            on_ready=self._join,
            heed=self._heed,
        )
        self._executor = RayExecutor(parts=parts, calls=self._calls, gang=self._gang, on_event=self._happened)
        self._saver = CheckpointSaver(
            tuning=self._answer.spec.tuning,
            gang=self._gang,
            keeper=parts.keeper,
            offers=parts.offers,
            timeline=parts.timeline,
            client=self._client,
            uploader=parts.telemetry.uploader,
        )
        self._standing = StatusReporter(self._client)
        self._scheduler: Scheduler | None = None
        self._is_admitting = True
        self._is_paused = False
        self._has_saved_final = self._is_final_saved = False
        self._next_clock = 0.0

    # --- the run, top-down ------------------------------------------------------------------------------------------

    def run(self) -> None:
        """From lanes to LoRA. Raises `RunCancelledError`, `StopOverdueError`, `FencedError` or what made it fail."""
        self._standing.enter(Phase.PLACE_LANES)
        self._timeline.begin()
        self._roster.place_all()
        self._standing.enter(Phase.LOAD_MODEL)
        self._roster.load_all()
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
        self._standing.enter(Phase.FINISH)
        self._parts.offers.keep_only(())
        self._commands.refuse_all("the run has ended")

    @property
    def ending(self) -> str:
        """How the run came to its end, in a few words."""
        done, wanted = self._progress.position.batch, self._answer.spec.num_batches
        return f"all {wanted} batches are done" if done == wanted else f"stopped after batch {done} of {wanted}"

    def close(self) -> None:
        """Free the lanes and tell their last spans."""
        self._timeline.end()
        self._parts.fleet.close()

    def _train_to_the_end(self) -> None:
        self._begin(self._restore())
        scheduler = self._current
        while not (scheduler.state.is_finished or (self._commands.stop_wanted and scheduler.state.is_at_boundary)):
            if self._commands.is_stop_overdue and scheduler.state.has_open_batch:
                self._give_up_batch()
            self._turn(scheduler)
        if not self._has_saved_final:
            self._save(scheduler, final=True)
            if self._parts.evaluations.is_due(self._progress.position.batch, is_end=True):
                self._evaluate(scheduler)
        while not (scheduler.state.is_quiescent or (self._commands.is_stop_overdue and self._is_final_saved)):
            self._turn(scheduler)

    def _give_up_batch(self) -> None:
        """Optimizer steps of the batch may be taken: only the checkpoints of earlier boundaries are whole."""
        kept = self._parts.keeper.latest or self._answer.resume_from
        raise StopOverdueError(
            f"stopped: batch {self._progress.position.batch + 1} was not done {self._answer.stop_seconds:.0f} s later "
            f"and was given up; {f'the checkpoint {kept} stays' if kept else 'there was no checkpoint yet'}"
        )

    def _restore(self) -> RunPosition:
        """Load the newest checkpoint, if there is one, on all ranks."""
        uri = self._parts.keeper.latest or self._answer.resume_from
        position = RunPosition()
        if uri is not None:
            self._standing.enter(Phase.RESTORE, uri)
            position = self._load_checkpoint(uri)
        elif not self._standing.has_run:
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
                self._parts.offers.offer_again(behaviour)

        self._gang.load_checkpoint(uri, finish)
        self._wait_for_calls()
        return found[0]

    def _begin(self, position: RunPosition) -> None:
        """Offer the first version, let the lanes join a new scheduler, ask for the first evaluation."""
        began_at = self._parts.clock.now()
        self._gang.snapshot(position.policy_version, lambda _: None)
        self._wait_for_calls()
        self._gang.publish(position.policy_version, partial(self._parts.offers.offer, began_at=began_at))
        self._wait_for_calls()
        self._progress.begin(position)
        self._scheduler = build_scheduler(self._answer, position)
        self._timeline.follow(self._scheduler.state.idle_cause, self._scheduler.state.idle_state)
        self._is_admitting = True
        for lane in sorted(self._roster.ready):
            self._join(lane)
        self._tell_state()
        is_edge = position.batch in (0, self._answer.spec.num_batches)
        if is_edge and self._parts.evaluations.is_due(position.batch) and not self._commands.stop_wanted:
            self._evaluate(self._current)
        else:
            self._standing.enter(Phase.TRAIN)

    def _start_over(self) -> None:
        """After a trainer rank was lost: a new gang, and nothing remembered of what was under way."""
        self._parts.samples.life += 1
        self._saver.life += 1
        self._scheduler = None
        self._has_saved_final = self._is_final_saved = False
        self._parts.shelf.clear()
        self._parts.advantages.clear()
        self._parts.offers.clear()
        self._parts.evaluations.restart()
        self._parts.lends.restart()
        self._standing.enter(Phase.LOAD_MODEL, "new trainer ranks")
        self._roster.restart_gang()
        self._wait_for_calls()

    # --- one turn ---------------------------------------------------------------------------------------------------

    def _turn(self, scheduler: Scheduler) -> None:
        self._heed()
        self._follow_orders(scheduler)
        for action in scheduler.next_actions(self._now()):
            self._start(action)
        self._timeline.settle(is_paused=self._is_paused)
        self._step_calls()
        self._tell_regularly(scheduler)

    def _start(self, action: Action) -> None:
        match action:
            case EvaluationComplete():
                self._evaluation_complete(action)
            case Lend():
                self._parts.lends.made(action)
            case LendSettled():
                self._parts.lends.settled(action)
            case _:
                self._executor.start(action)

    def _heed(self) -> None:
        self._parts.telemetry.check()
        self._commands.take_new()

    def _step_calls(self) -> None:
        if len(self._calls):
            self._calls.step(POLL_SECONDS)
        else:
            time.sleep(POLL_SECONDS)

    def _wait_for_calls(self) -> None:
        """Outside of turns: until every call made so far has answered."""
        while len(self._calls):
            self._heed()
            self._calls.step(POLL_SECONDS)
            self._timeline.settle(is_paused=False)

    def _follow_orders(self, scheduler: Scheduler) -> None:
        """Bring scheduler and state in line with what the user wants now."""
        commands = self._commands
        wants_admission = not (commands.pause_wanted or commands.stop_wanted)
        if wants_admission != self._is_admitting:
            self._is_admitting = wants_admission
            scheduler.apply(AdmissionOpened() if wants_admission else AdmissionClosed(), self._now())
        if commands.checkpoint_orders and not commands.stop_wanted and scheduler.state.is_quiescent:
            self._save(scheduler, final=False)
        request = self._parts.evaluations.next_request(
            batch=scheduler.state.batches_completed, policy_version=scheduler.state.policy_version
        )
        if request is not None:
            scheduler.apply(request, self._now())
        self._is_paused = commands.pause_wanted and (self._is_paused or scheduler.state.is_quiescent)
        self._tell_state()

    def _tell_state(self) -> None:
        self._standing.state(
            batch=self._progress.position.batch, is_paused=self._is_paused, is_stopping=self._commands.stop_wanted
        )

    def _tell_regularly(self, scheduler: Scheduler) -> None:
        self._standing.queues(scheduler.state.queues, batch=self._progress.position.batch)
        now = time.monotonic()
        if now >= self._next_clock:
            self._next_clock = now + CLOCK_SECONDS
            self._parts.fleet.measure_clocks(self._roster.ready - self._calls.busy_lanes)

    # --- what happened ----------------------------------------------------------------------------------------------

    def _reported(self, lane: str, report: CallReport[Any]) -> None:
        for record in report.logs:
            self._parts.telemetry.logs.forward(lane, record)

    def _happened(self, event: Event) -> None:
        scheduler = self._current
        scheduler.apply(event, self._now())
        match event:
            case Snapshotted():
                self._batch_trained(scheduler)
            case Published():
                self._parts.offers.keep_only(scheduler.state.needed_versions)
                self._standing.costs(scheduler.state.costs, batch=scheduler.state.batches_completed)
                self._batch_complete(scheduler)

    def _batch_trained(self, scheduler: Scheduler) -> None:
        """No gradients are open, and the next batch's must not be before a checkpoint that is due is written."""
        batch = self._progress.position.batch
        if batch < self._answer.spec.num_batches and (
            self._commands.checkpoint_orders or self._parts.keeper.is_due(batch)
        ):
            self._save(scheduler, final=False)

    def _batch_complete(self, scheduler: Scheduler) -> None:
        """The batch's version is on offer: evaluate it where that is due, and save the last one."""
        batch = scheduler.state.batches_completed
        is_last = batch == self._answer.spec.num_batches
        if self._parts.evaluations.is_due(batch) and (is_last or not self._commands.stop_wanted):
            self._evaluate(scheduler)
        if is_last:
            self._save(scheduler, final=True)

    def _lane_lost(self, lane: str, reason: str) -> None:
        """Raises `RewindNeededError` for a trainer rank."""
        scheduler = self._scheduler
        if scheduler is not None and lane in self._roster.ready:
            scheduler.apply(LaneLost(lane), self._now())
        self._timeline.lost(lane)
        self._roster.lost(lane, reason)

    def _join(self, lane: str) -> None:
        self._timeline.returned(lane)
        if self._scheduler is not None:
            role = self._parts.fleet[lane].grant.role
            self._scheduler.apply(LaneJoined(lane, role, None), self._now())

    # --- evaluations and checkpoints --------------------------------------------------------------------------------

    def _evaluate(self, scheduler: Scheduler) -> None:
        request = self._parts.evaluations.evaluation(
            batch=scheduler.state.batches_completed, policy_version=scheduler.state.policy_version
        )
        scheduler.apply(request, self._now())
        self._standing.enter(Phase.EVALUATE)

    def _evaluation_complete(self, action: EvaluationComplete) -> None:
        self._parts.evaluations.complete(action, self._progress.position)
        goes_on = self._progress.position.batch < self._answer.spec.num_batches and not self._has_saved_final
        if action.purpose is Purpose.EVALUATE and goes_on:
            self._standing.enter(Phase.TRAIN)

    def _save(self, scheduler: Scheduler, *, final: bool) -> None:
        """Reserve the gang, write checkpoint and download, release it. Rollout and reward lanes go on meanwhile."""
        if final:
            self._standing.enter(Phase.EXPORT)
            self._has_saved_final = True
        scheduler.apply(TrainerReserved(), self._now())
        orders = tuple(self._commands.checkpoint_orders)
        position, version, behaviour = self._progress.position, scheduler.state.next_batch_version, None
        if version < position.policy_version:
            # The batch has begun on an older version: after a resume it must be drawn by that one again.
            position, behaviour = replace(position, next_batch_version=version), self._parts.offers.version(version)
        then = partial(self._saved, orders, final)
        self._saver.save(
            SaveRequest(position=position, behaviour=behaviour, final=final, ordered=bool(orders), then=then)
        )

    def _saved(self, orders: tuple[str, ...], final: bool, uri: str) -> None:
        self._is_final_saved = self._is_final_saved or final
        for command_id in orders:
            self._commands.checkpoint_orders.remove(command_id)
            self._commands.answer(command_id, f"written to {uri}")
        self._current.apply(TrainerReleased(), self._now())

    def _now(self) -> float:
        return self._parts.clock.now()

    @property
    def _current(self) -> Scheduler:
        assert self._scheduler is not None, "asked for after `_begin`"
        return self._scheduler
