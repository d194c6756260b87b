"""Parameters of a matrix of which `make test` runs a few; `make test-full` runs all."""

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(quick: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """`values` as parameters, those that are not in `quick` marked as slow.

    Raises:
        ValueError: for a quick one that is none of the values, which would never run.
    """
    quick, values = list(quick), list(values)
    if strays := [value for value in quick if value not in values]:
        raise ValueError(f"`quick` must be among {values}, got {strays}: name parameters that exist")
    return [value if value in quick else _slow(value) for value in values]


def num_examples(few: int, many: int) -> pytest.MarkDecorator:
    """The argument `num_examples` of a test of a property: `few`, and `many` in `make test-full`."""
    return pytest.mark.parametrize("num_examples", [few, _slow(many)])


def _slow(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
