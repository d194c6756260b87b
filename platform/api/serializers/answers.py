"""The base of all serializers of answers.

An answer is only rendered, never parsed, so its fields are read-only, which the schema shows as always present. The
classes have no docstrings, because the schema would show them for every answer.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.contract_schema import Schema, component, list_of


class Answer(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = super().get_fields()
        for field in fields.values():
            field.read_only = True
        return fields


class ModelAnswer(Answer, serializers.ModelSerializer[Any]):
    pass


def contract_field(kind: Any, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    """A field that holds the JSON of a contract unchanged."""
    return _json_field(component(kind), **options)


def operation_field(**options: Any) -> serializers.CharField:
    """The id of the operation that a request began."""
    return serializers.CharField(help_text="Its operation: `GET /operations/{id}`.", **options)


def contract_list(kind: Any, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    """A field that holds a list of them."""
    return _json_field(list_of(kind), **options)


def _json_field(schema: Schema, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    field: type[serializers.Field[Any, Any, Any, Any]] = type("ContractField", (serializers.JSONField,), {})
    return extend_schema_field(schema)(field)(**options)
