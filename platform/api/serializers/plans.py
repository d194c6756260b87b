"""The request to plan a spec; the answer is defined in `runs.planning.plan_body`."""

from typing import Any

from rest_framework import serializers

from api.serializers.runs import SpecDocument


class SpecToPlan(serializers.Serializer[Any]):
    spec = SpecDocument(help_text="A run spec as an object, or as YAML text.")
