"""The base class of every contract, and the types of number and name that they share.

Invariant: a contract is frozen, has no unknown fields, and holds finite numbers only.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints
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


Count = Annotated[int, Field(ge=1)]
"""A number of things, at least one."""
Index = Annotated[int, Field(ge=0)]
"""A position counted from 0, or a number of things that may be none."""
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
"""A name in lower case with underscores, fit for keys and file names."""
