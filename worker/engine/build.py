"""From a bootstrap answer to a run's parts, and to the scheduler that drives them. No lane is touched here."""

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.names import Placement
from worker.contracts.run_spec import RunSpec
from worker.engine.control.advantages import AdvantageTable
from worker.engine.control.checkpoints import CheckpointKeeper, RunPosition
from worker.engine.control.clock import DriverClock
from worker.engine.control.commands import CommandDesk
from worker.engine.control.evaluations import EvaluationDesk
from worker.engine.control.fragments import FragmentShelf
from worker.engine.control.lanes import ACTOR_CLASSES, LaneActors, LaneFleet
from worker.engine.control.lends import LendTeller
from worker.engine.control.offers import OfferTable
from worker.engine.control.parts import RunParts
from worker.engine.control.progress import ProgressReporter
from worker.engine.control.prompts import PromptBook
from worker.engine.control.samples import SampleReporter
from worker.engine.control.timeline import Timeline
from worker.engine.telemetry.run_telemetry import RunTelemetry
from worker.pipeline.costs import heard_costs
from worker.pipeline.scheduler import Scheduler


def build_parts(
    answer: BootstrapAnswer, telemetry: RunTelemetry, actor_classes: LaneActors = ACTOR_CLASSES
) -> RunParts:
    """Everything that needs no callback of the controller's.

    Raises:
        ValueError: for prompts that do not suffice, or a placement that the web has not resolved.
    """
    spec, client = answer.spec, telemetry.client
    _refuse_auto(spec)
    clock = DriverClock()
    fleet = LaneFleet(answer.lanes, clock, actor_classes)
    prompts = PromptBook(spec, answer.prompts)
    shelf = FragmentShelf()
    advantages = AdvantageTable(spec, shelf)
    num_fragments_per_group = spec.algebra.num_fragments // spec.algebra.num_groups
    timeline = Timeline(fleet, clock, client, num_fragments_per_group=num_fragments_per_group)
    samples = SampleReporter(client, telemetry.uploader, fps=spec.sampling.fps)
    commands = CommandDesk(client, stop_seconds=answer.stop_seconds)
    progress = ProgressReporter(
        client=client,
        samples=samples,
        shelf=shelf,
        advantages=advantages,
        timeline=timeline,
        algebra=spec.algebra,
        gate=spec.replay_bounds if spec.algorithm.needs.log_probs else None,
        clock=clock,
        watched=[reward.key for reward in spec.rewards if reward.watched],
    )
    evaluations = EvaluationDesk(
        spec=spec, prompts=prompts, shelf=shelf, samples=samples, client=client, commands=commands
    )
    return RunParts(
        answer=answer,
        telemetry=telemetry,
        clock=clock,
        fleet=fleet,
        prompts=prompts,
        shelf=shelf,
        advantages=advantages,
        offers=OfferTable(client),
        timeline=timeline,
        samples=samples,
        progress=progress,
        evaluations=evaluations,
        lends=LendTeller(client),
        keeper=CheckpointKeeper(answer.checkpoints, spec.checkpoint),
        commands=commands,
    )


def build_scheduler(answer: BootstrapAnswer, position: RunPosition) -> Scheduler:
    """A scheduler that goes on from `position`."""
    spec = answer.spec
    return Scheduler(
        spec.algebra,
        spec.pipeline,
        advantage_std=spec.algorithm.advantage_std,
        first_batch=position.batch,
        num_batches=spec.num_batches,
        policy_version=position.policy_version,
        first_batch_version=position.next_batch_version,
        prior=heard_costs(answer.prior_costs),
        # Sharded weights are gathered by all ranks or none.
        lends_together=spec.deepspeed.zero_stage == 3,
    )


def _refuse_auto(spec: RunSpec) -> None:
    if spec.pipeline.placement is Placement.AUTO:
        raise ValueError(
            "`pipeline.placement` must be resolved before lanes are granted, got `auto`: "
            "the planner chooses placement, split and switches, and the driver gets a spec that names them"
        )
