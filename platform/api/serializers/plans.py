"""What is sent to plan a spec; the answer is `runs.plan_body`'s."""

from typing import Any

from rest_framework import serializers


class SpecToPlan(serializers.Serializer[Any]):
    spec = serializers.JSONField(help_text="A run spec as an object, or as YAML text.")
