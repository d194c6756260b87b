"""The points that a sweep makes, each checked as a run of it would be.

Invariant: a sweep that was created holds points alone from which runs could be created then. An invalid point of a grid
refuses the sweep; an invalid draw is counted, and another one is drawn in its place.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from accounts.models import Project
from runs.spec_check import WHOLE_SPEC, Errors, check_spec
from sweeps.rungs import rungs
from sweeps.search_space import NoSuchPlace, Values, draws, grid, grid_size, with_values
from sweeps.sweep_plan import MAX_POINTS, PlanRefused, PrunerKind, SamplerKind, SweepPlan
from worker.contracts.metric_names import Metric
from worker.contracts.run_spec import RunSpec
from worker.contracts.shown_values import cut

DRAWS_PER_POINT = 4
"""Draws at most for each point that is wanted, on average: where three of four are invalid or repeated, the space is at
fault."""
MAX_TOLD = 3
"""Invalid points that a refusal tells of: they tend to have one cause."""
_KEYED = {Metric.EVAL_PART: "eval/part/", Metric.REWARD_PART: "reward/part/"}
_PLAIN = sorted(metric.value for metric in Metric if "{" not in metric.value)


@dataclass(frozen=True, slots=True)
class CheckedPoints:
    """What a sweep would run."""

    points: list[Values]
    num_samples: list[int]
    """Samples that each point's runs train on, from the beginning to the end."""
    num_invalid_draws: int = 0
    invalid_draw: str = ""
    """The first invalid draw, with why."""


@dataclass(slots=True)
class _Checker:
    plan: SweepPlan
    project: Project
    errors: Errors = field(default_factory=dict)
    """Of all invalid points, as a refusal tells them."""
    num_invalid: int = 0
    first_invalid: str = ""

    def num_samples_of(self, values: Values) -> int | None:
        """The samples that a run of this point trains on; `None` for a point that cannot be run, which is noted."""
        try:
            document = with_values(self.plan.spec, values)
        except NoSuchPlace as error:
            self._note(values, {error.path: [str(error)]})
            return None
        report = check_spec(document, self.project)
        if report.spec is None:
            self._note(values, report.errors)
            return None
        if problems := plan_problems(self.plan, report.spec):
            self._note(values, problems)
            return None
        return report.spec.num_batches * report.spec.algebra.num_trajectories

    def _note(self, values: Values, errors: Errors) -> None:
        self.num_invalid += 1
        shown = ", ".join(f"{path} = {cut(str(value))}" for path, value in values.items())
        path, texts = next(iter(errors.items()))
        self.first_invalid = self.first_invalid or f"{shown}: {texts[0]}"
        if self.num_invalid <= MAX_TOLD:
            for path, texts in errors.items():
                self.errors.setdefault(_path_in_plan(path, self.plan), []).extend(f"{shown}: {text}" for text in texts)


def checked_points(plan: SweepPlan, project: Project) -> CheckedPoints:
    """Every point of the plan. Raises `PlanRefused`."""
    checker = _Checker(plan, project)
    if plan.sampler.kind is SamplerKind.RANDOM:
        return _drawn(plan, checker)
    if (size := grid_size(plan.space)) > MAX_POINTS:
        raise PlanRefused(
            {"space": [f"`space` must make ≤ {MAX_POINTS} points, got {size:,}: leave out values, or draw at random"]}
        )
    points = list(grid(plan.space))
    num_samples = [checker.num_samples_of(values) for values in points]
    if checker.num_invalid:
        counted = f"{checker.num_invalid} of {len(points)} points cannot be run"
        raise PlanRefused({path: [f"{counted}: {texts[0]}", *texts[1:]] for path, texts in checker.errors.items()})
    return CheckedPoints(points, [num for num in num_samples if num is not None])


def _drawn(plan: SweepPlan, checker: _Checker) -> CheckedPoints:
    wanted = plan.sampler.num_points or 0
    limit = DRAWS_PER_POINT * wanted
    points: list[Values] = []
    num_samples: list[int] = []
    for values in _without_repeats(itertools.islice(draws(plan.space, plan.sampler.seed), limit)):
        if (num := checker.num_samples_of(values)) is not None:
            points.append(values)
            num_samples.append(num)
        if len(points) == wanted:
            return CheckedPoints(points, num_samples, checker.num_invalid, checker.first_invalid)
    example = f", the first of {checker.first_invalid}" if checker.first_invalid else ""
    raise PlanRefused(
        {
            "space": [
                f"`space` gave {len(points)} different valid points in {limit} draws, `sampler.num_points` asks for "
                f"{wanted}; {checker.num_invalid} draws were invalid{example}: narrow the ranges, or ask for fewer"
            ]
        }
    )


def _without_repeats(points: Iterable[Values]) -> Iterator[Values]:
    seen: list[Values] = []
    for values in points:
        if values not in seen:
            seen.append(values)
            yield values


def plan_problems(plan: SweepPlan, spec: RunSpec) -> Errors:
    """What of the plan does not fit the runs of a point."""
    found: Errors = {}
    metric = plan.objective.metric
    keys = [reward.key for reward in spec.rewards]
    known = [*_PLAIN, *(f"{prefix}{key}" for prefix in _KEYED.values() for key in keys)]
    if metric not in known:
        found["objective.metric"] = [f"`objective.metric` must be one of {', '.join(known)}, got {metric[:60]}"]
    per_batch = spec.algebra.num_trajectories
    total = spec.num_batches * per_batch
    if plan.pruner.kind is PrunerKind.SUCCESSIVE_HALVING and not rungs(plan.pruner, total):
        found["pruner.min_samples"] = [
            f"`pruner.min_samples` must be < {total:,} (the samples of {spec.num_batches} batches of {per_batch}), "
            f"got {plan.pruner.min_samples:,}: no run would reach a rung before its end"
        ]
    return found


def _path_in_plan(path: str, plan: SweepPlan) -> str:
    """Where a user changes it: a swept setting in `space`, any other in `spec`, what is of the plan itself there."""
    if path in plan.space:
        return f"space.{path}"
    if path.partition(".")[0] in ("objective", "pruner"):
        return path
    return "spec" if path == WHOLE_SPEC else f"spec.{path}"
