"""What a GPU did, who used it and how its health went; and who had the pool's lanes over time."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer, contract_field
from api.serializers.bounded import MAX_ID, Moment, cursor, name_to_find, page_limit
from api.serializers.pool import HEALTHS, LANE_KINDS, MAX_TARGETS
from fleet.health.upkeep import MAX_REASON_CHARS
from fleet.states.occupancy import MAX_BUCKETS
from worker.contracts.node_reports import GpuFaults

DEFAULT_BUCKETS = 120


class MinutesColumn(Answer):
    """One quantity of a GPU, a value for each minute; null where the card did not tell it."""

    low = serializers.ListField(child=serializers.FloatField(allow_null=True))
    mean = serializers.ListField(child=serializers.FloatField(allow_null=True))
    high = serializers.ListField(child=serializers.FloatField(allow_null=True))


class GpuMinutes(Answer):
    """The last hours of a GPU, minute by minute; minutes without a report are left out."""

    kept_hours = serializers.FloatField(help_text="For how long minutes are kept.")
    at = serializers.ListField(child=serializers.FloatField(), help_text="Begin of each minute, in Unix seconds.")
    num_readings = serializers.ListField(child=serializers.IntegerField(), help_text="Of each minute.")
    values = serializers.DictField(
        child=MinutesColumn(), help_text="By field of `GpuLive`, in its unit; without those that the card never told."
    )
    throttled = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="By reason: the share of each minute's readings in which the clocks were reduced.",
    )


class GpuMinutesQuery(serializers.Serializer[Any]):
    since = Moment(required=False, help_text="Minutes from then on; all that are kept without it.")


class GpuUseBody(Answer):
    """The time for which one holder had the lane of a GPU. Runs of projects that you may not see are not named."""

    id = serializers.IntegerField()
    lane = serializers.CharField()
    run_id = serializers.UUIDField(allow_null=True, help_text="Null for tests, and for a run that you may not open.")
    run_name = serializers.CharField(help_text="Empty for tests.")
    project = serializers.CharField()
    user = serializers.CharField(help_text="Who created the run or asked for the preview.")
    role = serializers.CharField(help_text="The lane's role in the run; `preview` and `test` for such holders.")
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="Null while the lane is held.")


class GpuHealthBody(Answer):
    """One change of a GPU's health."""

    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    health = serializers.ChoiceField(HEALTHS)
    causes = serializers.ListField(child=serializers.CharField(), help_text="The worst first.")
    remedy = serializers.CharField(help_text="What its vendor recommends; `none` for nothing.")
    faults = contract_field(GpuFaults, help_text="What its driver had counted.")
    run_id = serializers.UUIDField(allow_null=True, help_text="The run that held its lane, if you may open it.")
    run_name = serializers.CharField(help_text="Empty where no run held it.")


class PageQuery(serializers.Serializer[Any]):
    cursor = cursor()
    limit = page_limit("Rows")


class GpusToTest(serializers.Serializer[Any]):
    """Several GPUs that are to be tested."""

    gpus = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID), min_length=1, max_length=MAX_TARGETS
    )
    reason = serializers.CharField(max_length=MAX_REASON_CHARS, help_text="Shown to everybody.")


class OccupancyQuery(serializers.Serializer[Any]):
    since = Moment(help_text="Begin of the window.")
    until = Moment(help_text="End of the window; what lies after now is left out.")
    buckets = serializers.IntegerField(
        default=DEFAULT_BUCKETS, min_value=1, max_value=MAX_BUCKETS, help_text="Into how many equal parts it is cut."
    )
    kind = serializers.ChoiceField(LANE_KINDS, required=False, help_text="By default GPU lanes, where there are any.")
    pool = name_to_find(required=False, help_text="Lanes that are in the pool of this name now.")


class OccupancyArea(Answer):
    """The lanes of one project, or those that were idle, tested or out of service."""

    key = serializers.CharField(help_text="A project's id, `idle`, `test` or a state; empty for several projects.")
    name = serializers.CharField()
    category = serializers.ChoiceField(["project", "test", "idle", "out_of_service"])
    lanes = serializers.ListField(child=serializers.FloatField(), help_text="Mean number of lanes in each bucket.")
    lane_hours = serializers.FloatField(help_text="In the whole window.")


class OccupancyBody(Answer):
    """Who had the pool's lanes over a window. The areas of a bucket add up to the lanes that there were."""

    kind = serializers.ChoiceField(LANE_KINDS)
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(help_text="That asked for, but not after now.")
    bucket_seconds = serializers.FloatField()
    at = serializers.ListField(child=serializers.FloatField(), help_text="Begin of each bucket, in Unix seconds.")
    areas = OccupancyArea(many=True)
