"""The contracts as components of the OpenAPI schema, so that REST, sockets and drivers share one description.

    worker.contracts, typed dictionaries ──pydantic──┐
                                                     ├─► `manage.py spectacular` ─► frontend/openapi.json ─► schema.ts
    serializers and views ────────drf-spectacular────┘

`AutoSchema` describes the views. `add_contracts` is drf-spectacular's hook: it adds the components that views refer to
by `component`, and those that no view has, such as events, commands and the frames of the sockets. Invariant: a
component name has one meaning. If contracts and serializers both define it, both must list the same choices.
"""

from typing import Any

from drf_spectacular.openapi import AutoSchema as SpectacularAutoSchema
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from api.chosen_fields import add_parameter
from api.entity_tags import CHANGING, IF_MATCH, has_tag
from api.idempotency import IDEMPOTENCY
from api.idempotent_posts import does_write
from api.problems import Problem
from runs.planning.plan_body import PlanBody
from telemetry.sockets.frames import PoolFrame, ProjectsFrame, RunFrame
from telemetry.stream_items import BULK_TYPES, StreamItem
from worker.contracts.applicability import Inapplicable
from worker.contracts.commands import RunCommand
from worker.contracts.events import RunEvent
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.metric_names import Metric
from worker.contracts.rewards import VERDICT_REWARDS
from worker.contracts.states import END_STATES

Schema = dict[str, Any]

_PREFIX = "#/components/schemas/"
_SUFFIX = "Body"
"""Suffix of Python types whose name would otherwise equal a model's; component names leave it out."""

_ALWAYS: dict[str, Any] = {
    "Inapplicable": Inapplicable,
    "RunEvent": RunEvent,
    "RunCommand": RunCommand,
    "RunFrame": RunFrame,
    "ProjectsFrame": ProjectsFrame,
    "PoolFrame": PoolFrame,
    "StreamItem": StreamItem,
    "Metric": Metric,
    "PlanBody": PlanBody,
    "Problem": Problem,
}
"""Components that the schema holds even if no view refers to them."""

_SUBSETS: dict[str, tuple[str, list[str]]] = {
    "BulkItemType": ("Types of stream items that are too frequent to be read as events.", sorted(BULK_TYPES)),
    "EndState": ("States of a run that has ended; a stopped one can be resumed.", sorted(END_STATES)),
    "TwoExpertFamily": (
        "Model families of which some checkpoints have a second transformer, for low noise.",
        sorted(family for family, traits in FAMILY_TRAITS.items() if traits.may_have_two_experts),
    ),
    "VerdictReward": (
        "Rewards that are 1 for a right sample and 0 for a wrong one, so that their mean is a share.",
        sorted(VERDICT_REWARDS),
    ),
}
"""Subsets of the contracts' choices that the pages need, such as the states of an ended run."""

_REFUSAL: Schema = {
    "description": "A refusal.",
    "content": {"application/problem+json": {"schema": {"$ref": f"{_PREFIX}Problem"}}},
}

_referred: dict[str, Any] = {}


def component(kind: Any) -> Schema:
    """A reference to the component of a contract or typed dictionary, which is thereby added to the schema."""
    name = kind.__name__
    _referred[name] = kind
    return {"$ref": _PREFIX + name}


def named_component(name: str) -> Schema:
    """A reference to one of the components that the schema always holds."""
    if name not in _ALWAYS:
        raise LookupError(f"`name` must be one of {', '.join(_ALWAYS)}, got {name}")
    return {"$ref": _PREFIX + name}


def list_of(kind: Any) -> Schema:
    return {"type": "array", "items": component(kind)}


def page_schema(results: Schema) -> Schema:
    """One page `{next, results}` of a listing."""
    return {
        "type": "object",
        "required": ["next", "results"],
        "properties": {"next": {"type": ["string", "null"], "format": "uri"}, "results": results},
    }


class AutoSchema(SpectacularAutoSchema):
    """Names pages as `page_of` does, and tells of the headers by which writes are repeated and guarded."""

    def get_override_parameters(self) -> list[Any]:
        parameters: list[Any] = list(super().get_override_parameters())
        # `api.query_parameters` asks for those of the query alone, of no request.
        method = getattr(self, "method", "")
        if method == "POST" and does_write(type(self.view)):
            parameters.append(IDEMPOTENCY)
        if method in CHANGING and has_tag(self.view):
            parameters.append(IF_MATCH)
        return parameters

    def get_paginated_name(self, serializer_name: str) -> str:
        return f"{serializer_name.removesuffix(_SUFFIX)}Page"


class _Complete(GenerateJsonSchema):
    """JSON schema of answers: a field with a default is always sent, so it is required."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        if field["type"] == "typed-dict-field":
            return bool(super().field_is_required(field, total))
        return True

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: pydantic's titles repeat the names of fields."""
        return False


def add_contracts(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """drf-spectacular's hook. Raises `ValueError` if contracts and serializers define one name differently."""
    made = _contract_components({**_referred, **_ALWAYS})
    schemas: Schema = result["components"]["schemas"]
    for name, schema in made.items():
        if name in schemas and not same_choices(schemas[name], schema):
            raise ValueError(f"component `{name}` is defined differently by serializers and contracts: rename one")
        schemas[name] = schema
    for name, (description, values) in _SUBSETS.items():
        schemas[name] = {"type": "string", "enum": values, "description": description}
    names = {name: name.removesuffix(_SUFFIX) for name in schemas}
    if len(set(names.values())) < len(names):
        raise ValueError(f"components must have different names without `{_SUFFIX}`, got {sorted(names)}")
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["default"] = {"$ref": "#/components/responses/Refusal"}
    result["components"]["responses"] = {"Refusal": _REFUSAL}
    result["components"]["schemas"] = {names[name]: schemas[name] for name in sorted(schemas, key=names.__getitem__)}
    renamed = _renamed(result, {_PREFIX + old: _PREFIX + new for old, new in names.items()})
    add_parameter(renamed)
    return renamed


def _contract_components(kinds: dict[str, Any]) -> Schema:
    """Components of these types, and of all types nested in them, by name."""
    inputs: Any = [(name, "serialization", TypeAdapter(kind)) for name, kind in kinds.items()]
    by_key, rest = TypeAdapter.json_schemas(inputs, ref_template=_PREFIX + "{model}", schema_generator=_Complete)
    made: Schema = dict(rest.get("$defs", {}))
    for (name, _), schema in by_key.items():
        # A union has no name of its own in pydantic.
        if name not in made:
            made[name] = schema
    return made


def same_choices(one: Schema, other: Schema) -> bool:
    """Whether two schemas are enumerations of the same values."""
    return "enum" in one and "enum" in other and set(one["enum"]) == set(other["enum"])


def _renamed(value: Any, references: dict[str, str]) -> Any:
    """`value` with every reference replaced, in the order it has, at any depth."""
    if isinstance(value, dict):
        return {key: _renamed(inner, references) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, references) for inner in value]
    return references.get(value, value) if isinstance(value, str) else value
