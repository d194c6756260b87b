"""The base class of every contract: frozen, nothing unknown accepted, finite numbers only."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


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


Count = Annotated[int, Field(ge=1)]
Index = Annotated[int, Field(ge=0)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
