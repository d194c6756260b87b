"""The base class of every contract, and the types of number, text and name that they share.

Invariants: a contract is frozen, has no unknown fields, and holds finite numbers only. What a program on the cluster
reports is made of the bounded types here, so that it can be stored, summed and read; a test walks all of it.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema


class Contract(BaseModel):
    """A frozen value. Unknown fields are refused, so that a misspelt one is an error and not a default."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        ser_json_inf_nan="constants",
        # The docstring below a field becomes its description in the JSON schema, which form and API documentation show.
        use_attribute_docstrings=True,
    )


@dataclass(frozen=True, slots=True)
class JsonOf:
    """Marks the plain JSON of a contract: `Annotated[dict[str, Any], JsonOf(Span)]` is a mapping in Python, passed on
    as it is stored, and a `Span` in every JSON schema."""

    contract: Any
    """The contract whose JSON it is."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.contract)


MAX_INTEGER = 2**31 - 1
"""The largest number of a column that holds counts."""
MAX_EXACT_INTEGER = 2**53 - 1
"""The largest whole number that every reader of JSON keeps exactly."""
MAX_CLOCK_SECONDS = 1e10
"""The year 2286: beyond it a clock counts in milliseconds, by mistake."""
MAX_VALUE = 1e100
"""Of a measured value: far beyond fp32's 3.4e38, and the sums and squares of any number of such values stay finite."""
MAX_TEXT_CHARS = 100_000
"""Of a log line, a reason or a traceback: a thousand lines of a hundred characters."""
MAX_LANE_CHARS = 64
MAX_KEY_CHARS = 128
"""Of the name of a metric or a reward."""

Count = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
"""A number of things, at least one."""
Index = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
"""A position counted from 0, or a number of things that may be none."""
BigCount = Annotated[int, Field(ge=0, le=MAX_EXACT_INTEGER)]
"""A number of bytes, errors or other things of which there may be very many, or none."""
UnixTime = Annotated[float, Field(ge=0, le=MAX_CLOCK_SECONDS)]
"""A moment, in seconds since the epoch."""
Duration = Annotated[float, Field(ge=0, le=MAX_CLOCK_SECONDS)]
"""A length of time in seconds."""
Value = Annotated[float, Field(ge=-MAX_VALUE, le=MAX_VALUE)]
"""A measured number."""
Magnitude = Annotated[float, Field(ge=0, le=MAX_VALUE)]
"""A measured number that is not below 0."""
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
"""A name in lower case with underscores, fit for keys and file names."""
Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_CHARS)]
"""The name of a metric, a reward or the like."""
LaneId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LANE_CHARS)]
"""The id of a lane within its run, `driver`, or `gang` for all trainer lanes."""
ShortText = Annotated[str, StringConstraints(max_length=200)]
"""A name or a version that other software gave."""
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A checksum, in lower-case hexadecimal digits."""


def _cut(text: Any) -> Any:
    """A text that is too long, without its middle: a traceback is understood by its beginning and its end."""
    if not isinstance(text, str) or len(text) <= MAX_TEXT_CHARS:
        return text
    half = MAX_TEXT_CHARS // 2 - len(_LEFT_OUT)
    return f"{text[:half]}{_LEFT_OUT}{text[-half:]}"


_LEFT_OUT = "\n…\n"
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS), BeforeValidator(_cut)]
"""What a program says in its own words. One that is too long is cut, never refused: a long log line must not end a
run."""
