"""Brings lanes up, and decides what follows from the loss of one.

```text
placed ─► loading ─► ready ─► on_ready       each by itself, trainer lanes together
   ▲                   │ lost
   ├── rollout, reward ┘ (bounded; beyond that the lane is given up and the others take its work)
   └── all trainer lanes together, by `restart_gang`, after a rewind to a checkpoint
```

A lost trainer rank took open gradients with it, so the whole gang starts again from a checkpoint. A lane is restarted
where it was: what was on a node that died is lost to this attempt (`LanesLostError`), and the next one has other lanes.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ray import ObjectRef

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.lane_events import LanesEvent, LaneStartEvent
from worker.contracts.lanes import LaneWork, StartStep
from worker.contracts.names import LaneRole
from worker.contracts.node_reports import are_same_devices
from worker.contracts.resizing import ResizeReport
from worker.contracts.sections import PipelineSpec
from worker.engine.control.cluster_lanes import ClusterLanes, LanesLostError
from worker.engine.control.pending_calls import PendingCalls, Reports, RewindNeededError
from worker.engine.control.trainer_gang import TrainerGang
from worker.engine.errors import EngineError
from worker.engine.telemetry.telemetry_client import TelemetryClient

logger = logging.getLogger(__name__)

MAX_LANE_RESTARTS = 3
"""The most restarts of one lane in one attempt: a lane that dies more often has a cause that a restart does not
remove."""


class LanesExhaustedError(EngineError):
    """Every lane of a role was lost more often than it is restarted."""


class WrongDeviceError(EngineError):
    """A lane computes on other GPUs than the pool granted."""

    def __init__(self, lane: str, granted: Sequence[str], seen: Sequence[str]) -> None:
        super().__init__(
            f"lane `{lane}` must see {', '.join(granted)} as granted, it sees {', '.join(seen)}: the pool cordons the "
            "GPUs that were granted, and the run can be started again on others"
        )


class LaneSupervisor:
    """Loads lanes, and restarts those that are lost."""

    def __init__(
        self,
        *,
        answer: BootstrapAnswer,
        prompts: ObjectRef,
        lanes: ClusterLanes,
        calls: PendingCalls,
        gang: TrainerGang,
        client: TelemetryClient,
        on_ready: Callable[[str], None],
        poll_web: Callable[[], None],
    ) -> None:
        """
        Args:
            answer: the run's bootstrap answer.
            prompts: refers to the run's prompts, a sequence of `Prompt` that lanes encode.
            lanes: the lanes to supervise.
            calls: where actor calls are awaited.
            gang: the trainer lanes among `lanes`.
            client: receives the `lanes` event whenever a lane's location has changed.
            on_ready: called with the name of each lane that is loaded, also after a restart.
            poll_web: called while waiting for the cluster, so that a run without resources can still be cancelled.
        """
        self._answer = answer
        self._prompts = prompts
        self._lanes = lanes
        self._calls = calls
        self._gang = gang
        self._client = client
        self._on_ready = on_ready
        self._poll_web = poll_web
        self._given_up: set[str] = set()
        """Lanes that were lost too often to be restarted again."""
        self._tentative: dict[str, Callable[[str], None]] = {}
        """By lane that joins the run while it works: called with the reason where it cannot load."""
        self._gang_missing = set(gang.lanes)
        """The trainer lanes that are not up for the first time."""
        self._gang_started_at = 0.0
        self.gang_start_seconds: float | None = None
        """What the trainer ranks took to start and load when they last did; `None` before that."""
        self.gang_pipeline = answer.spec.pipeline
        """The switches that the trainer ranks were loaded for last."""
        self.ready: set[str] = set()
        """Lanes that are loaded and not lost."""

    @property
    def pipeline(self) -> PipelineSpec:
        """The switches that lanes are loaded for from now on."""
        return self._answer.spec.pipeline

    @pipeline.setter
    def pipeline(self, pipeline: PipelineSpec) -> None:
        spec = self._answer.spec.model_copy(update={"pipeline": pipeline})
        self._answer = self._answer.model_copy(update={"spec": spec})

    def place_all(self) -> None:
        """Put every lane on the cluster, and start loading on each as soon as it is up, trainer lanes when all of them
        are: loading takes most of a run's start-up time, and one slow node must not hold up the others.

        Raises `LanePlacementError`, `LanesLostError`.
        """
        self._gang_started_at = time.monotonic()
        self._lanes.open()
        self._wait_until_up(self._lanes.names(), self._placed)
        self.report()

    def _placed(self, lanes: Sequence[str]) -> None:
        self._tell_start(StartStep.PLACED, lanes)
        for lane in lanes:
            if self._lanes.role(lane) is not LaneRole.TRAINER:
                self._load(lane)
        if self._gang_missing:
            self._gang_missing.difference_update(lanes)
            if not self._gang_missing:
                self._begin_gang()

    def _begin_gang(self) -> None:
        self._tell_start(StartStep.LOADING, self._gang.lanes)
        self.load_gang(self._gang_loaded)

    def bring_up(self, lane: str, otherwise: Callable[[str], None]) -> None:
        """Load a rollout or reward lane whose actor was started while the run works. `otherwise` is called with the
        reason where it cannot load; its loss is reported as that of any lane."""
        self._tentative[lane] = otherwise
        self._start(lane)

    def load_gang(self, then: Callable[[Reports], None], otherwise: Callable[[str], None] | None = None) -> None:
        """Load all trainer ranks, whose actors are up. `otherwise` is called as `PendingCalls.start` says."""
        self.gang_pipeline = self.pipeline

        def loaded(reports: Reports) -> None:
            self._ask_devices(reports)
            then(reports)

        self._gang.load(self._answer, self._prompts, loaded, otherwise=otherwise)

    def forget(self, lane: str) -> None:
        """The lane's actor is ended on purpose: it is not ready, and its calls are dropped."""
        self.ready.discard(lane)
        self._tentative.pop(lane, None)
        self._given_up.discard(lane)
        self._calls.forget_lane(lane)

    def lost(self, lane: str, reason: str) -> None:
        """Called when a lane's actor died: restart the lane or give it up.

        Raises:
            RewindNeededError: when it was a trainer rank.
            LanesLostError: when it was the last of its role, and nodes of such lanes have died.
            LanesExhaustedError: when it was the last of its role and has been restarted `MAX_LANE_RESTARTS` times.
        """
        self.ready.discard(lane)
        role = self._lanes.role(lane)
        if role is LaneRole.TRAINER:
            raise RewindNeededError(f"trainer lane `{lane}` was lost: {reason}")
        is_node_dead = bool(self._lanes.on_dead_nodes([lane]))
        if self._lanes[lane].num_restarts < MAX_LANE_RESTARTS and not is_node_dead:
            logger.warning("lane %s was lost and is restarted: %s", lane, reason)
            self._restart(lane)
            return
        self._given_up.add(lane)
        why = "was lost with its node" if is_node_dead else f"was lost {MAX_LANE_RESTARTS + 1} times"
        if self._given_up.issuperset(self._lanes.names(role)):
            if self._lanes.on_dead_nodes(self._lanes.names(role)):
                raise LanesLostError(f"no {role} lane is left, `{lane}` {why} last: {reason}")
            raise LanesExhaustedError(f"every {role} lane {why}, `{lane}` last: {reason}")
        logger.error("lane %s %s and is given up: %s", lane, why, reason)

    def restart_gang(self) -> None:
        """Restart and load all trainer ranks. Other lanes that were still starting restart too: their calls are
        forgotten with all others. Raises `LanesLostError` where the node of a rank has died."""
        self._calls.forget_all()
        self._gang_started_at = time.monotonic()
        for lane in self._gang.lanes:
            self.ready.discard(lane)
            self._lanes.restart(lane)
        for lane in self._lanes.names(LaneRole.ROLLOUT) + self._lanes.names(LaneRole.REWARD):
            if lane not in self.ready and lane not in self._given_up:
                self._restart(lane)
        self._wait_until_up(self._gang.lanes, partial(self._tell_start, StartStep.PLACED))
        self.report()
        self._begin_gang()

    def _wait_until_up(self, lanes: Sequence[str], on_up: Callable[[Sequence[str]], None]) -> None:
        self._tell_start(StartStep.REQUESTED, lanes)
        self._lanes.wait_until_up(lanes, self._poll_web, on_up)

    def _restart(self, lane: str) -> None:
        self._lanes.restart(lane)
        self._start(lane)

    def _start(self, lane: str) -> None:
        self._tell_start(StartStep.REQUESTED, [lane])
        self._calls.start(LaneWork.START, {lane: self._lanes[lane].actor.location.remote()}, self._started)

    def _started(self, reports: Reports) -> None:
        self.located(reports)
        self._tell_start(StartStep.PLACED, list(reports))
        self.report()
        for lane in reports:
            self._load(lane)

    def located(self, reports: Reports) -> None:
        """Take the locations of actors that are up from their reports, and measure their clocks."""
        for lane, report in reports.items():
            self._lanes[lane].location = report.value
        self._lanes.measure_clocks(reports)

    def _load(self, lane: str) -> None:
        self._tell_start(StartStep.LOADING, [lane])
        actor = self._lanes[lane].actor
        if self._lanes.role(lane) is LaneRole.ROLLOUT:
            ref = actor.load.remote(self._answer.spec, self._answer.base_model_path, self._prompts)
        else:
            num_gpus = self._lanes.num_gpus_beside(lane)
            ref = actor.load.remote(self._answer.spec, self._answer.scorer_access, num_gpus)
        self._calls.start(LaneWork.LOAD, {lane: ref}, self._loaded, otherwise=self._tentative.get(lane))

    def _gang_loaded(self, reports: Reports) -> None:
        self.gang_start_seconds = time.monotonic() - self._gang_started_at
        self._make_ready(reports)

    def _loaded(self, reports: Reports) -> None:
        self._ask_devices(reports)
        self._make_ready(reports)

    def _make_ready(self, reports: Reports) -> None:
        self._tell_start(StartStep.READY, list(reports))
        for lane, report in reports.items():
            logger.info("lane %s is ready after %.1f s of loading", lane, report.end - report.start)
            self._tentative.pop(lane, None)
            self.ready.add(lane)
            self._on_ready(lane)

    def _ask_devices(self, lanes: Iterable[str]) -> None:
        """Ask lanes that were granted GPUs by UUID which ones they see, now that they have loaded."""
        asked = {lane: self._lanes[lane].actor.uuids.remote() for lane in lanes if self._lanes.uuids(lane)}
        if asked:
            self._calls.start(LaneWork.IDENTIFY, asked, self._devices_told)

    def _devices_told(self, reports: Reports) -> None:
        for lane, report in reports.items():
            self._lanes[lane].see(report.value)
        self.report()
        for lane, report in reports.items():
            granted = self._lanes.uuids(lane)
            # None is left to a lane whose shared card has gone since it was asked: it is started again on another.
            if report.value and granted and not are_same_devices(granted, report.value):
                raise WrongDeviceError(lane, granted, report.value)

    def _tell_start(self, step: StartStep, lanes: Sequence[str]) -> None:
        """Report that lanes are a step further on their way to work."""
        self._client.emit(LaneStartEvent, step=step, lanes=tuple(lanes))

    def report(self, resize: ResizeReport | None = None) -> None:
        """Report the lanes, and how far a resize is."""
        self._client.emit(LanesEvent, lanes=self._lanes.infos(), algebra=self._answer.spec.algebra, resize=resize)
