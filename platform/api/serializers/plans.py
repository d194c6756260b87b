"""The request to plan a spec; the answer is defined in `runs.planning.plan_body`."""

from typing import Any

from rest_framework import serializers


class SpecToPlan(serializers.Serializer[Any]):
    spec = serializers.JSONField(help_text="A run spec as an object, or as YAML text.")
