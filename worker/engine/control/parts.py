"""The parts of a run that stand on their own: built once, before any lane is up. `worker.engine.build` makes them."""

from dataclasses import dataclass

from worker.contracts.ingest import BootstrapAnswer
from worker.engine.control.advantages import AdvantageTable
from worker.engine.control.checkpoints import CheckpointKeeper
from worker.engine.control.clock import DriverClock
from worker.engine.control.commands import CommandDesk
from worker.engine.control.evaluations import EvaluationDesk
from worker.engine.control.fragments import FragmentShelf
from worker.engine.control.lanes import LaneFleet
from worker.engine.control.lends import LendTeller
from worker.engine.control.offers import OfferTable
from worker.engine.control.progress import ProgressReporter
from worker.engine.control.prompts import PromptBook
from worker.engine.control.samples import SampleReporter
from worker.engine.control.timeline import Timeline
from worker.engine.telemetry.run_telemetry import RunTelemetry


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    answer: BootstrapAnswer
    telemetry: RunTelemetry
    clock: DriverClock
    fleet: LaneFleet
    prompts: PromptBook
    shelf: FragmentShelf
    advantages: AdvantageTable
    offers: OfferTable
    timeline: Timeline
    samples: SampleReporter
    progress: ProgressReporter
    evaluations: EvaluationDesk
    lends: LendTeller
    keeper: CheckpointKeeper
    commands: CommandDesk
