"""What the planner chose for a run that left placement to it, for the schema. `runs.auto_placement` writes it."""

from typing import Any

from rest_framework import serializers

from runs.auto_placement import MEASURED, PROFILE


class ChoiceBody(serializers.Serializer[Any]):
    """The best of one mode."""

    pipeline = serializers.JSONField(help_text="The `pipeline` section of its spec.")
    num_rollout = serializers.IntegerField()
    num_trainer = serializers.IntegerField()
    fragment_size = serializers.IntegerField()
    samples_per_second = serializers.FloatField(help_text="Predicted.")
    batch_seconds = serializers.FloatField(help_text="Predicted.")
    bound_share = serializers.FloatField(help_text="Of the throughput that no schedule exceeds on these lanes.")
    mean_staleness = serializers.FloatField(allow_null=True)
    memory_bytes = serializers.DictField(child=serializers.FloatField(), help_text="Of the fullest lane, by duty.")


class SplitBody(serializers.Serializer[Any]):
    num_trainer = serializers.IntegerField()
    samples_per_second = serializers.FloatField()
    is_simulated = serializers.BooleanField(help_text="Simulated; otherwise the split's upper limit.")


class ExpectedCostBody(serializers.Serializer[Any]):
    """Seconds of one kind of work = `per_call` + units × `per_unit`."""

    lane = serializers.CharField(help_text="A device, `gang` for all trainer lanes together, or `reward`.")
    kind = serializers.CharField()
    per_call = serializers.FloatField()
    per_unit = serializers.FloatField()


class PlanBody(serializers.Serializer[Any]):
    """What the planner chooses, and what else there is."""

    mode = serializers.CharField(help_text="The one chosen, a key of `by_mode`.")
    trainers = serializers.ListField(child=serializers.IntegerField())
    by_mode = serializers.DictField(child=ChoiceBody())
    curves = serializers.DictField(child=SplitBody(many=True), help_text="Throughput by split, for each mode.")
    bound_samples_per_second = serializers.FloatField()
    devices = serializers.ListField(child=serializers.CharField())
    costs = serializers.ChoiceField([MEASURED, PROFILE], help_text="What was reckoned with.")
    num_batches_measured = serializers.IntegerField()
    fragment_sizes_measured = serializers.ListField(
        child=serializers.IntegerField(), help_text="Of the runs it was measured on; what other sizes cost is inferred."
    )
    expected = ExpectedCostBody(many=True, help_text="What the choice was reckoned from.")


class AttemptPlanBody(PlanBody):
    """Why an attempt works as it does."""

    attempt = serializers.IntegerField()


class PlanPreviewBody(PlanBody):
    """A plan made before there is a run."""

    fits_pool = serializers.BooleanField(help_text="Whether the pool has as many lanes, free or not.")


class SpecToPlan(serializers.Serializer[Any]):
    spec = serializers.JSONField(help_text="A run spec as an object, or as YAML text.")


class RunPlanBody(serializers.Serializer[Any]):
    plan = AttemptPlanBody(allow_null=True, help_text="Null where the user chose, and before lanes were given.")
