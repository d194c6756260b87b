"""A plan as plain JSON: stored with the attempt that uses it, and sent to the page that explains it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from runs.planning.cost_history import History
from runs.planning.prior_costs import expected_costs
from worker.contracts.base import JsonOf
from worker.contracts.events import WorkCost
from worker.contracts.names import RewardDevice
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.measured_work import observed_sizes
from worker.scheduling.planning.modes import MODES
from worker.scheduling.planning.planner import ModeChoice, Plan, with_choice
from worker.scheduling.planning.scoring_choice import ScoringChoice
from worker.scheduling.profiles.known_models import stand_in_profile

ModeName = Annotated[str, JsonOf(Literal[tuple(mode.name for mode in MODES)])]


@with_config(use_attribute_docstrings=True)
class PlanChoice(TypedDict):
    """The best choice of one mode, with the planner's predictions for it."""

    pipeline: Annotated[dict[str, Any], JsonOf(PipelineSpec)]
    """The `pipeline` section of the spec that an attempt would use."""
    num_rollout: int
    num_trainer: int
    fragment_size: int
    samples_per_second: float
    batch_seconds: float
    is_simulated: bool
    """Whether the throughput was simulated; otherwise, in pools or batches too large for that, it is an estimate."""
    bound_share: float
    """Share of the throughput that no schedule with at most the staleness asked for exceeds on these lanes."""
    mean_staleness: float | None
    """Mean staleness of the simulated samples; null where nothing was simulated."""
    memory_bytes: dict[str, float]
    """Memory of the lane with the highest peak, by what the lane does."""


@with_config(use_attribute_docstrings=True)
class SplitPoint(TypedDict):
    """The throughput of one mode at one number of trainer lanes."""

    num_trainer: int
    samples_per_second: float
    is_simulated: bool
    """Whether it was simulated; otherwise `samples_per_second` is an upper limit, or in pools too large to simulate an
    estimate."""


@with_config(use_attribute_docstrings=True)
class PlannedScoring(TypedDict):
    """Where rewards are computed."""

    rewards_on: Annotated[str, JsonOf(RewardDevice)]
    """As in `lanes.rewards_on`, decided."""
    reason: str
    """Why the planner chose it, a sentence; empty where the user did."""
    card_bytes: float
    """Memory that a reward lane takes of the card that it shares; `memory_bytes` counts it. 0 where it shares none."""


@with_config(use_attribute_docstrings=True)
class PlanBody(TypedDict):
    """What the planner chooses for a spec, and the alternatives."""

    mode: ModeName
    """The mode chosen, a key of `by_mode`."""
    trainers: list[int]
    """Positions, among the lanes that generate or train, of those that train."""
    by_mode: dict[str, PlanChoice]
    curves: dict[str, list[SplitPoint]]
    """Throughput by split, for each mode."""
    bound_samples_per_second: float
    """The throughput that no schedule with at most the staleness asked for exceeds on these lanes. It counts work,
    critical path, whole fragments and micro-batches, and memory."""
    devices: list[str]
    scoring: PlannedScoring
    costs: Literal["measured", "own", "profile", "corrected"]
    """Source of the costs: measured on earlier runs, by the run itself, the documented profile of model and hardware,
    or that profile corrected by what earlier runs have measured on other kinds of GPU."""
    stand_in_profile: str | None
    """Name of the profile used for a model of unknown size; null for a known one."""
    num_batches_measured: int
    fragment_sizes_measured: list[int]
    """Fragment sizes at which costs were measured; the costs of other sizes are inferred."""
    expected: list[Annotated[dict[str, Any], JsonOf(WorkCost)]]
    """The costs that the choice assumes; `lane` is a device, `gang` for all trainer lanes together, or `reward`."""


@with_config(use_attribute_docstrings=True)
class RevisedPlan(PlanBody):
    """A plan that a run uses."""

    attempt: int
    revision: int
    """Number of the plan among the run's plans, from 1."""
    since_batch: int
    """Number of complete batches when the plan took effect."""
    reason: str
    """Why the run uses it, in one sentence."""


@with_config(use_attribute_docstrings=True)
class PlanPromise(TypedDict):
    """What a change of plan was predicted to gain and to take."""

    seconds_before: float
    """Seconds of a batch that were predicted had nothing changed."""
    predicted_move_seconds: float
    """Seconds for which training was expected to stand still for the change."""
    move_seconds: float
    """Seconds for which it did."""


@with_config(use_attribute_docstrings=True)
class PlanStep(TypedDict):
    """One of the plans that a run has worked by."""

    attempt: int
    revision: int
    """Number of the plan among the run's plans, from 1."""
    since_batch: int
    """Number of complete batches when the plan took effect."""
    reason: str
    """Why the run uses it."""
    num_rollout: int
    num_trainer: int
    batch_seconds: float
    """Predicted seconds of a batch."""
    promise: PlanPromise | None
    """What the change was predicted to gain and to take; null for the plan that an attempt began with."""


@with_config(use_attribute_docstrings=True)
class PlanPreview(PlanBody):
    """A plan made before there is a run."""

    fits_pool: bool
    """Whether the pool has as many lanes, free or not."""
    card_bytes: dict[str, float]
    """Memory of each device that the planner knows, against which it judges `memory_bytes`."""
    price_per_hour: float | None
    """What the run's lanes cost in an hour, each at the mean price of its device's lanes in the pool; null where none
    has a price."""
    num_unpriced_lanes: int
    """Number of the run's lanes on GPUs without a price, which `price_per_hour` leaves out."""


def plan_body(asked: RunSpec, made: Plan, devices: Sequence[str], measured: History) -> PlanBody:
    """The choice, the alternatives, and the costs that both assume."""
    num_trajectories = asked.algebra.num_trajectories
    return {
        "mode": next(mode for mode, choice in made.by_mode.items() if choice is made.best),
        "trainers": list(made.best.split_result.candidate.trainers),
        "by_mode": {mode: _choice(asked, made, choice) for mode, choice in made.by_mode.items()},
        "curves": {
            mode: [
                {
                    "num_trainer": point.num_trainer,
                    "samples_per_second": num_trajectories / point.batch_seconds,
                    "is_simulated": point.is_simulated,
                }
                for point in points
            ]
            for mode, points in made.curves.items()
        },
        "bound_samples_per_second": num_trajectories / made.bound_seconds,
        "devices": sorted(set(devices)),
        "scoring": _scoring(asked, made.request.scoring),
        "costs": _source(measured),
        "stand_in_profile": stand_in_profile(asked.base_model),
        "num_batches_measured": measured.num_batches,
        "fragment_sizes_measured": list(observed_sizes(measured.tables)),
        "expected": expected_costs(made, devices),
    }


def _choice(asked: RunSpec, made: Plan, choice: ModeChoice) -> PlanChoice:
    spec = with_choice(asked, choice)
    simulated = choice.split_result.result
    return {
        "pipeline": spec.pipeline.model_dump(mode="json"),
        "num_rollout": spec.granted_lanes.num_rollout,
        "num_trainer": spec.granted_lanes.num_trainer,
        "fragment_size": spec.algebra.fragment_size,
        "samples_per_second": choice.samples_per_second,
        "batch_seconds": choice.split_result.batch_seconds,
        "is_simulated": simulated is not None,
        "bound_share": made.bound_share(choice),
        "mean_staleness": None if simulated is None else simulated.mean_staleness,
        "memory_bytes": {duty.value: memory.total for duty, memory in choice.memory.items()},
    }


def _scoring(asked: RunSpec, scoring: ScoringChoice | None) -> PlannedScoring:
    if scoring is None:
        return {"rewards_on": asked.lanes.rewards_on.value, "reason": "", "card_bytes": 0.0}
    return {
        "rewards_on": scoring.spec.lanes.rewards_on.value,
        "reason": scoring.reason,
        "card_bytes": scoring.card_bytes,
    }


def _source(measured: History) -> Literal["measured", "profile", "corrected"]:
    if not measured.tables:
        return "profile"
    return "corrected" if measured.is_of_others else "measured"
