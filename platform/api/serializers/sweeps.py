"""Sweeps: the requests that make and list them."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer, contract_field
from runs.models import SweepState
from sweeps.sweep_plan import SweepPlan


class SweepDocument(serializers.JSONField):
    """A plan as a JSON object, or as YAML text."""


class SweepsQuery(serializers.Serializer[Any]):
    project = serializers.UUIDField(required=False)
    state = serializers.ChoiceField(SweepState.choices, required=False)


class SweepToPreview(serializers.Serializer[Any]):
    project = serializers.UUIDField(help_text="Project in which the runs are created.")
    sweep = SweepDocument(help_text="A plan of a sweep (`SweepPlan`) as an object, or as YAML text.")


class NewSweep(SweepToPreview):
    parent = serializers.UUIDField(required=False, allow_null=True, help_text="Run that the sweep is made from.")


class SweepPreview(Answer):
    """What a sweep would run."""

    plan = contract_field(SweepPlan, help_text="The plan with every field written out.")
    points = serializers.ListField(child=serializers.DictField(), help_text="The settings of each point.")
    num_runs = serializers.IntegerField(help_text="Of all points with all seeds.")
    num_samples = serializers.IntegerField(help_text="Samples of all runs, if none is pruned.")
    num_invalid_draws = serializers.IntegerField()
    invalid_draw = serializers.CharField(help_text="The first invalid draw, with why; empty for none.")
    rungs = serializers.ListField(
        child=serializers.IntegerField(), help_text="Samples at which the points with most samples are judged."
    )
