"""Builds a run's components and its scheduler from the bootstrap answer. Nothing is started on the cluster here."""

from collections.abc import Sequence

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.names import Placement, RewardDevice
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PipelineSpec
from worker.engine.control.advantages import AdvantageCache
from worker.engine.control.checkpoint_directory import CheckpointDirectory, RunPosition
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ACTOR_CLASSES, ClusterLanes, LaneActors
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.evaluations import EvaluationManager
from worker.engine.control.fragment_store import FragmentStore
from worker.engine.control.group_reporter import GroupReporter
from worker.engine.control.lend_reporter import LendReporter
from worker.engine.control.metrics_reporter import MetricsReporter
from worker.engine.control.prompt_schedule import PromptSchedule
from worker.engine.control.request_encoder import RequestEncoder
from worker.engine.control.run_components import RunComponents
from worker.engine.control.sample_reporter import SampleReporter
from worker.engine.control.schedule_logger import ScheduleLogger
from worker.engine.control.span_reporter import SpanReporter
from worker.engine.control.surviving_lanes import are_kept
from worker.engine.control.version_registry import VersionRegistry
from worker.engine.forkserver.server_start import can_fork
from worker.engine.telemetry.run_telemetry import RunTelemetry
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.replay.recorded_scheduler import RecordedScheduler
from worker.scheduling.replay.schedule_log import ScheduleStart


def build_components(
    answer: BootstrapAnswer,
    prompts: Sequence[Prompt],
    telemetry: RunTelemetry,
    actor_classes: LaneActors = ACTOR_CLASSES,
) -> RunComponents:
    """The components of a run.

    Args:
        answer: the web's answer at the bootstrap.
        telemetry: the run's open telemetry.
        actor_classes: the lanes' classes by role.

    Raises:
        ValueError: for fewer prompts than a batch needs, or a placement that the web has not resolved.
    """
    spec, client = answer.spec, telemetry.client
    _refuse_auto(spec)
    clock = DriverClock()
    # Lanes of other classes load no model.
    loads_model = actor_classes is ACTOR_CLASSES
    lanes = _cluster_lanes(answer, clock, actor_classes, loads_model=loads_model)
    schedule = PromptSchedule(spec, prompts)
    fragments = FragmentStore()
    advantages = AdvantageCache(spec, fragments)
    spans = SpanReporter(lanes, clock, client, run=answer.run)
    samples = SampleReporter(client, telemetry.uploader, fps=spec.sampling.fps, stored=spec.stored_samples)
    schedule_log = ScheduleLogger(telemetry.uploader)
    commands = CommandQueue(client, stop_seconds=answer.stop_seconds)
    metrics = _metrics_reporter(
        spec, client, clock, samples=samples, fragments=fragments, advantages=advantages, spans=spans
    )
    evaluations = EvaluationManager(
        spec=spec,
        prompts=schedule,
        fragments=fragments,
        samples=samples,
        client=client,
        commands=commands,
        encoded=RequestEncoder(answer, lanes, prompts).is_done if loads_model else lambda _: True,
        first_batch=0 if answer.origin is None else answer.origin.batch,
    )
    return RunComponents(
        answer=answer,
        telemetry=telemetry,
        clock=clock,
        lanes=lanes,
        prompts=schedule,
        fragments=fragments,
        advantages=advantages,
        versions=VersionRegistry(client),
        spans=spans,
        samples=samples,
        metrics=metrics,
        groups=GroupReporter(client, fragments, advantages, spec.algebra),
        evaluations=evaluations,
        lends=LendReporter(client),
        schedule_log=schedule_log,
        checkpoints=CheckpointDirectory(answer.checkpoints, spec.checkpoint, answer.origin),
        commands=commands,
    )


def build_scheduler(
    answer: BootstrapAnswer,
    position: RunPosition,
    log: ScheduleLogger,
    *,
    pipeline: PipelineSpec,
    fragment_size: int,
) -> Scheduler:
    """A scheduler that continues from `position`, and writes every event it receives and action it decides to `log`.

    Args:
        pipeline: the run's present switches.
        fragment_size: trajectories of a fragment from now on.
    """
    spec = answer.spec
    start = ScheduleStart(
        algebra=spec.algebra.with_fragment_size(fragment_size),
        pipeline=pipeline,
        advantage_std=spec.algorithm.advantage_std,
        num_batches=spec.num_batches,
        first_batch=position.batch,
        policy_version=position.policy_version,
        first_batch_version=position.next_batch_version,
        # Gathering sharded weights is a collective, so trainer lanes can only be lent all together.
        lends_together=spec.deepspeed.zero_stage == 3,
        # ZeRO 2 and 3 reduce gradients in every backward pass.
        equal_counts=spec.deepspeed.zero_stage >= 2,
        prior_costs=answer.prior_costs,
    )
    log.begin()
    return RecordedScheduler(start, log.write)


def _cluster_lanes(
    answer: BootstrapAnswer, clock: DriverClock, actor_classes: LaneActors, *, loads_model: bool
) -> ClusterLanes:
    return ClusterLanes(
        answer.lanes,
        clock,
        actor_classes,
        forks=loads_model and can_fork(),
        kept_for=answer if are_kept(answer) else None,
        shares_cards=answer.spec.lanes.rewards_on is RewardDevice.SHARED_GPU,
    )


def _metrics_reporter(
    spec: RunSpec,
    client: TelemetryClient,
    clock: DriverClock,
    *,
    samples: SampleReporter,
    fragments: FragmentStore,
    advantages: AdvantageCache,
    spans: SpanReporter,
) -> MetricsReporter:
    return MetricsReporter(
        client=client,
        samples=samples,
        fragments=fragments,
        advantages=advantages,
        spans=spans,
        algebra=spec.algebra,
        gate=spec.replay_bounds if spec.algorithm.needs.log_probs else None,
        algorithm=spec.algorithm,
        clock=clock,
        monitored=[reward.key for reward in spec.rewards if reward.watched],
        ranks_in_step=spec.deepspeed.zero_stage >= 2,
    )


def _refuse_auto(spec: RunSpec) -> None:
    """Raise `ValueError` for `placement: auto`, which only the planner can resolve."""
    if spec.pipeline.placement is Placement.AUTO:
        raise ValueError(
            "`pipeline.placement` must be resolved before lanes are granted, got `auto`: "
            "the planner chooses placement, lanes and switches, and the driver needs a spec that names them"
        )
