"""The queues, and what projects may have of the pools."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.names import Priority


class QueueQuery(serializers.Serializer[Any]):
    pool = serializers.CharField(required=False, help_text="Only the queue of this pool.")


class PoolQuery(serializers.Serializer[Any]):
    pool = serializers.CharField(default=DEFAULT_POOL, help_text="Name of the pool.")


HALF_LIFE_HELP = "After which use counts half in fair share."
RECLAIM_HELP = "In which a lane that is asked back may finish its fragment; then the fragment is drawn again elsewhere."
IDLE_WARNING_HELP = "For how long a GPU that a run holds may do nothing before it is warned of."
IDLE_RELEASE_HELP = (
    "After how long without any work it is taken from the run, which shrinks where it may or else is paused; null for "
    "never."
)


class QueuedRun(Answer):
    """A run that waits for lanes."""

    pool = serializers.CharField()
    position = serializers.IntegerField(
        allow_null=True,
        help_text="Runs of its pool that are served before it; null for one that its project's limit stops.",
    )
    run_id = serializers.UUIDField(allow_null=True, help_text="Null for a run of a project that is not yours.")
    run_name = serializers.CharField()
    project_id = serializers.UUIDField(allow_null=True)
    project_name = serializers.CharField()
    priority = serializers.ChoiceField([priority.value for priority in Priority])
    lanes = serializers.DictField(child=serializers.IntegerField(), help_text="Lanes that it wants, by kind.")
    since = serializers.DateTimeField()
    why = serializers.CharField(help_text="What it waits for, in one sentence; empty in a preview.")


class PoolShare(Answer):
    """What a project may have of a pool, has, and used lately; in lanes of the kind that generates and trains."""

    pool = serializers.CharField()
    project_id = serializers.UUIDField()
    project_name = serializers.CharField()
    guaranteed_lanes = serializers.IntegerField()
    max_lanes = serializers.IntegerField(allow_null=True)
    weight = serializers.FloatField()
    entitled_lanes = serializers.FloatField(help_text="Its guarantee, and its part of what nobody is guaranteed.")
    held_lanes = serializers.IntegerField()
    used_lane_hours = serializers.FloatField(help_text="Of late: each hour counts half after a half-life.")
    num_waiting = serializers.IntegerField()


class ShareToSet(serializers.Serializer[Any]):
    guaranteed_lanes = serializers.IntegerField(default=0, help_text="Lanes that the project gets first.")
    max_lanes = serializers.IntegerField(
        default=None, allow_null=True, help_text="The most that it may hold; 0 keeps the project out of the pool."
    )
    weight = serializers.FloatField(default=1.0, help_text="Its part, beside others', of lanes nobody is guaranteed.")


class ShareToTry(ShareToSet):
    project = serializers.UUIDField()


class SharesToTry(serializers.Serializer[Any]):
    pool = serializers.CharField(default=DEFAULT_POOL)
    shares = serializers.ListField(child=ShareToTry(), max_length=1000)


class PoolPolicy(Answer):
    pool = serializers.CharField(source="pool_id")
    half_life_hours = serializers.FloatField(help_text=HALF_LIFE_HELP)
    reclaim_seconds = serializers.FloatField(help_text=RECLAIM_HELP)
    idle_warning_minutes = serializers.IntegerField(help_text=IDLE_WARNING_HELP)
    idle_release_minutes = serializers.IntegerField(allow_null=True, help_text=IDLE_RELEASE_HELP)


class PolicyToSet(serializers.Serializer[Any]):
    half_life_hours = serializers.FloatField(required=False, help_text=HALF_LIFE_HELP)
    reclaim_seconds = serializers.FloatField(required=False, help_text=RECLAIM_HELP)
    idle_warning_minutes = serializers.IntegerField(required=False, help_text=IDLE_WARNING_HELP)
    idle_release_minutes = serializers.IntegerField(required=False, allow_null=True, help_text=IDLE_RELEASE_HELP)
