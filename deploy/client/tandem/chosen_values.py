"""Values of calls that change only what they are given: None is a value like others."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final


class NotGiven(Enum):
    """The type of `NOT_GIVEN`."""

    NOT_GIVEN = "not given"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN
"""The default of a value that is left as it is."""


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `values` that were given."""
    return {name: value for name, value in values.items() if value is not NOT_GIVEN}
