"""The ranges of values that a sweep takes a setting from."""

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from worker.contracts.base import Contract
from worker.contracts.shown_values import shown

MAX_VALUES = 64
"""Of one setting: a quarter of all points."""
MAX_NUMBER = 10**12
"""Of the ends of a range: beyond any setting, and floats hold the distance of any two exactly."""

NumValues = Annotated[int, Field(ge=2, le=MAX_VALUES)]
End = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
WholeEnd = Annotated[int, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]


class ChoiceRange(Contract):
    """One of some values."""

    kind: Literal["choice"] = "choice"
    values: Annotated[tuple[JsonValue, ...], Field(min_length=1, max_length=MAX_VALUES)]

    @model_validator(mode="after")
    def _differ(self) -> Self:
        for place, value in enumerate(self.values):
            # `True == 1` in Python, but not in a spec.
            if any(type(other) is type(value) and other == value for other in self.values[:place]):
                raise ValueError(f"`values` must differ, got {shown(value)} twice: remove one")
        return self


class FloatRange(Contract):
    """A number between two others, both included. `log_uniform` spreads evenly over orders of magnitude."""

    kind: Literal["uniform", "log_uniform"]
    low: End
    high: End
    num_values: NumValues | None = None
    """How many values a grid takes, the ends included. Not for a random sampler."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"`high` must be > `low` ({self.low:g}), got {self.high:g}")
        if self.kind == "log_uniform" and self.low <= 0:
            raise ValueError(f"`low` must be > 0 for log_uniform, got {self.low:g}: take uniform, or a small number")
        return self


class IntRange(Contract):
    """A whole number between two others, both included where `step` leads to them."""

    kind: Literal["int"]
    low: WholeEnd
    high: WholeEnd
    step: Annotated[int, Field(ge=1, le=MAX_NUMBER)] = 1

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"`high` must be > `low` ({self.low}), got {self.high}")
        if self.step > self.high - self.low:
            raise ValueError(f"`step` must be ≤ {self.high - self.low} (`high` − `low`), got {self.step}")
        return self


Range = Annotated[ChoiceRange | FloatRange | IntRange, Field(discriminator="kind")]
