"""The parts of a run that stand on their own: built once, before any lane is up. `worker.engine.build` makes them."""

from dataclasses import dataclass

from worker.contracts.ingest import BootstrapAnswer
from worker.engine.control.advantages import AdvantageCache
from worker.engine.control.checkpoint_directory import CheckpointDirectory
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.evaluations import EvaluationManager
from worker.engine.control.fragment_store import FragmentStore
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
    answer: BootstrapAnswer
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
    evaluations: EvaluationManager
    lends: LendReporter
    schedule_log: ScheduleLogger
    checkpoints: CheckpointDirectory
    commands: CommandQueue
