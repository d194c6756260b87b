"""The base class of every contract: frozen, nothing unknown accepted, finite numbers only."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema


class Contract(BaseModel):
    """A frozen value. Unknown fields are refused so that a typo is an error at the border, not a default."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        ser_json_inf_nan="constants",
        # The text below a field is its help: JSON schema, form and API docs show it.
        use_attribute_docstrings=True,
    )


@dataclass(frozen=True, slots=True)
class JsonOf:
    """Marks the plain JSON of a contract: `Annotated[dict[str, Any], JsonOf(Span)]` is a mapping to the program, which
    passes it on as it is stored, and a `Span` in every JSON schema."""

    contract: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.contract)


Count = Annotated[int, Field(ge=1)]
Index = Annotated[int, Field(ge=0)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
