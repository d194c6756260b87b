"""The components of a run that need no callback of the controller's, built once by `worker.engine.build` before any
lane is up."""

from dataclasses import dataclass

from worker.contracts.ingest import BootstrapAnswer
from worker.engine.control.advantages import AdvantageCache
from worker.engine.control.checkpoint_directory import CheckpointDirectory
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.evaluations import EvaluationManager
from worker.engine.control.fragment_store import FragmentStore
from worker.engine.control.group_reporter import GroupReporter
from worker.engine.control.lend_reporter import LendReporter
from worker.engine.control.metrics_reporter import MetricsReporter
from worker.engine.control.prompt_schedule import PromptSchedule
from worker.engine.control.sample_reporter import SampleReporter
from worker.engine.control.schedule_logger import ScheduleLogger
from worker.engine.control.span_reporter import SpanReporter
from worker.engine.control.version_registry import VersionRegistry
from worker.engine.telemetry.run_telemetry import RunTelemetry


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComponents:
    """Everything that outlives a rewind of the run."""

    answer: BootstrapAnswer
    """What the web has answered at the bootstrap: spec, lanes, where to store checkpoints."""
    telemetry: RunTelemetry
    clock: DriverClock
    lanes: ClusterLanes
    prompts: PromptSchedule
    fragments: FragmentStore
    advantages: AdvantageCache
    versions: VersionRegistry
    spans: SpanReporter
    samples: SampleReporter
    metrics: MetricsReporter
    groups: GroupReporter
    evaluations: EvaluationManager
    lends: LendReporter
    schedule_log: ScheduleLogger
    checkpoints: CheckpointDirectory
    commands: CommandQueue

    def rewind(self) -> None:
        """Drop everything that was under way, before the run continues from a checkpoint with a new scheduler."""
        self.telemetry.uploader.rewind()
        self.fragments.clear()
        self.advantages.clear()
        self.groups.clear()
        self.versions.clear()
        self.evaluations.restart()
        self.lends.restart()
