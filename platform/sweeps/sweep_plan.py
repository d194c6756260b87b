"""`SweepPlan`: what a user asks for in a sweep, for REST, command line and form; validated once, when it arrives.

The docstring below a field is its help. Invariant: what needs no knowledge of the spec is checked here; whether each
point can be run is `sweeps.points`' to say.
"""

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from runs.models import MAX_FIELD_PATH_CHARS, MAX_SWEEP_NAME_CHARS
from sweeps.sweep_ranges import FloatRange, Range
from worker.contracts.base import Contract
from worker.contracts.error_sentences import Sentences, error_sentences
from worker.contracts.metric_names import Metric
from worker.contracts.plain_json import json_problems
from worker.contracts.shown_values import shown
from worker.contracts.spec_bounds import MAX_SEED
from worker.contracts.spec_yaml import read_yaml

MAX_FIELDS = 8
"""Of a space: more axes than a page of parallel coordinates can be read by."""
MAX_POINTS = 256
"""Each is checked while the request waits, some milliseconds long."""
MAX_SEEDS = 10
"""Per point; three to five tell a better point from a lucky one."""
MAX_PARALLEL = 64
"""Beyond, the project's share of the pool is the bound that matters."""
MAX_GPU_HOURS = 1e7
"""A thousand GPUs for more than a year."""
MAX_SAMPLES = 10**12
"""A million batches of a million samples."""

FieldPath = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", max_length=MAX_FIELD_PATH_CHARS)
]
"""A setting of a spec by its dotted path, such as `optimizer.learning_rate` or `rewards.0.weight`."""


class SamplerKind(StrEnum):
    GRID = "grid"
    RANDOM = "random"


class Sampler(Contract):
    kind: SamplerKind = SamplerKind.GRID
    """`grid` takes every combination. `random` draws points by Optuna's `RandomSampler`, which finds good values of a
    few settings that matter among several that do not sooner than a grid."""
    num_points: Annotated[int, Field(ge=1, le=MAX_POINTS)] | None = None
    """How many points are drawn; of a random sampler alone."""
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    """Of the draws: the same seed draws the same points."""

    @model_validator(mode="after")
    def _points_if_random(self) -> Self:
        if (self.kind is SamplerKind.RANDOM) != (self.num_points is not None):
            wanted = "given for a random sampler" if self.num_points is None else "left out for a grid"
            raise ValueError(f"`num_points` must be {wanted}")
        return self


class PrunerKind(StrEnum):
    NONE = "none"
    SUCCESSIVE_HALVING = "successive_halving"


class Pruner(Contract):
    kind: PrunerKind = PrunerKind.NONE
    """`successive_halving` is Optuna's `SuccessiveHalvingPruner` (ASHA): at each rung a point goes on only if it is
    among the best of those that have reached the rung before it."""
    min_samples: Annotated[int, Field(ge=1, le=MAX_SAMPLES)] | None = None
    """Samples that a run has trained on at the first rung; the following ones are `reduction_factor` times as far
    each. Of successive halving alone."""
    reduction_factor: Annotated[int, Field(ge=2, le=16)] = 3
    """One of so many points goes on from a rung."""

    @model_validator(mode="after")
    def _samples_if_halving(self) -> Self:
        if (self.kind is PrunerKind.SUCCESSIVE_HALVING) != (self.min_samples is not None):
            wanted = "given for successive halving" if self.min_samples is None else "left out without a pruner"
            raise ValueError(f"`min_samples` must be {wanted}")
        return self


class Objective(Contract):
    metric: Annotated[str, StringConstraints(min_length=1, max_length=128)] = Metric.EVAL_REWARD.value
    """The curve by which points are compared: by default the held-out reward."""
    maximise: bool = True


class SweepPlan(Contract):
    """Everything that a user asks for in a sweep."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SWEEP_NAME_CHARS)]
    spec: dict[str, Any]
    """The spec of every run, but for what `space` and the seeds change."""
    space: Annotated[dict[FieldPath, Range], Field(min_length=1, max_length=MAX_FIELDS)]
    """The swept settings: a range of values by the dotted path of each."""
    sampler: Sampler = Sampler()
    pruner: Pruner = Pruner()
    num_seeds: Annotated[int, Field(ge=1, le=MAX_SEEDS)] = 1
    """Runs of each point. Their seeds count up from the spec's `seed`, the same for every point."""
    max_parallel_runs: Annotated[int, Field(ge=1, le=MAX_PARALLEL)] = 4
    """Runs that wait or work at the same time."""
    budget_gpu_hours: Annotated[float, Field(gt=0, le=MAX_GPU_HOURS)] | None = None
    """GPU-hours after which no new run starts; those at work go on to their end. Empty: no bound."""
    objective: Objective = Objective()

    @model_validator(mode="after")
    def _cross_field_rules(self) -> Self:
        if "seed" in self.space:
            raise ValueError("`space` must not hold `seed`: say by `num_seeds` how many seeds each point gets")
        for field in self.space:
            if above := next((other for other in self.space if field.startswith(f"{other}.")), None):
                raise ValueError(f"`space` must not hold `{field}` beside `{above}`, which it is a part of")
        if self.sampler.kind is SamplerKind.GRID:
            for field, values in self.space.items():
                if isinstance(values, FloatRange) and values.num_values is None:
                    raise ValueError(f"`space.{field}.num_values` is missing: say how many values the grid takes")
        _ = seed_of(self.spec)
        return self

    @property
    def seeds(self) -> range:
        first = seed_of(self.spec)
        return range(first, first + self.num_seeds)


def seed_of(spec: dict[str, Any]) -> int:
    """The first seed of a spec. Raises `ValueError`."""
    seed = spec.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAX_SEED - MAX_SEEDS:
        raise ValueError(f"`spec.seed` must be a whole number between 0 and {MAX_SEED - MAX_SEEDS}, got {shown(seed)}")
    return seed


class PlanRefused(ValueError):
    """What is asked for is no plan of a sweep; `errors` are sentences by dotted path."""

    def __init__(self, errors: Sentences) -> None:
        self.errors = errors
        super().__init__("; ".join(text for texts in errors.values() for text in texts))


def read_plan(document: Any) -> SweepPlan:
    """The plan that a mapping, or YAML text, stands for. Raises `PlanRefused`."""
    try:
        read = read_yaml(document) if isinstance(document, str) else document
        if not isinstance(read, dict):
            raise ValueError("the sweep must be a mapping: begin with `name:`, `spec:` and `space:`")
        if problem := next(json_problems(read), None):
            raise PlanRefused({problem[0]: [problem[1]]})
        return SweepPlan.model_validate(read)
    except PlanRefused:
        raise
    except ValidationError as error:
        raise PlanRefused(_without_kinds(error_sentences(error), read)) from error
    except ValueError as error:
        raise PlanRefused({"": [str(error)]}) from error


def _without_kinds(errors: Sentences, document: dict[str, Any]) -> Sentences:
    """Pydantic puts a range's kind into the paths of its settings, which the document does not have."""
    space = document.get("space")
    ranges = space.items() if isinstance(space, dict) else ()
    found: Sentences = {}
    for path, texts in errors.items():
        for field, values in ranges:
            kind = values.get("kind") if isinstance(values, dict) else None
            old, new = f"space.{field}.{kind}", f"space.{field}"
            path, texts = path.replace(old, new), [text.replace(old, new) for text in texts]
        # Pydantic puts `[key]` behind a name that is no path.
        path, texts = path.removesuffix(".[key]"), [text.replace(".[key]`", "`") for text in texts]
        found.setdefault(path, []).extend(texts)
    return found
