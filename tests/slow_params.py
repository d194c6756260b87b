"""How much `make test` tries of what `make test-full` tries in full: parameters of a matrix, examples of a property."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

FULL = "TANDEM_TEST_FULL"
"""The variable that `deploy/make/checks.py` sets for `make test-full`."""


def slow_but(quick: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """`values` as parameters, those that are not in `quick` marked as slow.

    Raises:
        ValueError: for a quick one that is none of the values, which would never run.
    """
    quick, values = list(quick), list(values)
    if strays := [value for value in quick if value not in values]:
        raise ValueError(f"`quick` must be among {values}, got {strays}: name parameters that exist")
    return [value if value in quick else _slow(value) for value in values]


def examples(few: int, many: int) -> int:
    """How many examples a property is tried with: `few` in `make test`, `many` in `make test-full`."""
    return many if os.environ.get(FULL) else few


def _slow(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
