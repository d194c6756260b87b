"""The points of a space: all of a grid, or draws of Optuna's random sampler, whose ranges are Optuna's distributions.

Invariant: a space and a seed determine the points, so that a sweep can be previewed and then made.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from sweeps.sweep_ranges import ChoiceRange, FloatRange, IntRange, Range

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Values = dict[str, Any]
"""The swept settings of a point by dotted path."""


class NoSuchPlace(ValueError):
    """A dotted path leads through something that is no section of the spec."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)


def grid_size(space: Mapping[str, Range]) -> int:
    """The number of points of the grid, without making any."""
    return math.prod(_num_values(values) for values in space.values())


def grid(space: Mapping[str, Range]) -> Iterator[Values]:
    """Every combination; the last setting changes first."""
    for combination in itertools.product(*(_grid_values(values) for values in space.values())):
        yield dict(zip(space, combination, strict=True))


def draws(space: Mapping[str, Range], seed: int) -> Iterator[Values]:
    """Endless random points."""
    # Optuna takes half a second to import, which only a random sweep is to pay for.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    distributions = {field: _distribution(values) for field, values in space.items()}
    while True:
        drawn = study.ask(distributions).params
        yield {
            # The place of a choice is drawn, since Optuna stores no lists and mappings.
            field: values.values[drawn[field]] if isinstance(values, ChoiceRange) else drawn[field]
            for field, values in space.items()
        }


def with_values(spec: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the spec's document with these settings. Raises `NoSuchPlace`."""
    made = deepcopy(dict(spec))
    for path, value in values.items():
        *sections, name = path.split(".")
        node: Any = made
        for depth, section in enumerate(sections, 1):
            node = _inside(node, section, ".".join(sections[:depth]), path)
        if isinstance(node, list):
            _inside(node, name, path, path)
            node[int(name)] = value
        else:
            node[name] = value
    return made


def _inside(node: Any, name: str, here: str, path: str) -> Any:
    """What stands at `name` of a section; a section that the document leaves out is made."""
    if isinstance(node, list):
        if name.isdecimal() and int(name) < len(node):
            return node[int(name)]
        raise NoSuchPlace(path, f"`{here}` must be a place in a list of {len(node)}, counted from 0")
    inner = node.setdefault(name, {})
    if inner is None:
        inner = node[name] = {}
    if not isinstance(inner, dict | list):
        raise NoSuchPlace(path, f"`{here}` is a value and no section of the spec: it has no settings")
    return inner


def _num_values(values: Range) -> int:
    match values:
        case ChoiceRange():
            return len(values.values)
        case IntRange():
            return (values.high - values.low) // values.step + 1
        case FloatRange():
            return values.num_values or 0


def _grid_values(values: Range) -> list[Any]:
    match values:
        case ChoiceRange():
            return list(values.values)
        case IntRange():
            return list(range(values.low, values.high + 1, values.step))
        case FloatRange():
            spaced = np.geomspace if values.kind == "log_uniform" else np.linspace
            inner = spaced(values.low, values.high, _num_values(values))[1:-1]
            # 12 digits, so that 0.1 + 0.2 reads as 0.3; the ends are just those that were asked for.
            return [values.low, *(float(f"{value:.12g}") for value in inner), values.high]


def _distribution(values: Range) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    match values:
        case ChoiceRange():
            return CategoricalDistribution(range(len(values.values)))
        case IntRange():
            # Optuna wants a `high` that is reached, and warns of another.
            reached = values.low + (values.high - values.low) // values.step * values.step
            return IntDistribution(values.low, reached, step=values.step)
        case FloatRange():
            return FloatDistribution(values.low, values.high, log=values.kind == "log_uniform")
