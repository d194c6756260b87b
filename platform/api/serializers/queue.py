"""The queues, and what projects may have of the pools."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer, contract_field
from api.serializers.bounded import Number, name_to_find
from fleet.shares.pool_policies import SETTINGS
from fleet.shares.shares import MAX_LANES as MAX_SHARE_LANES
from fleet.shares.shares import MAX_WEIGHT
from runs.forecast.end_forecast import Basis
from runs.models import STATE_VALUES
from runs.queue.alternatives import Change
from runs.queue.queue_blockers import BlockerKind
from runs.queue.queue_places import Direction
from runs.resizing.resize_services import MAX_LANES
from worker.contracts.base import MAX_INTEGER
from worker.contracts.lanes import DEFAULT_POOL, LaneSpec
from worker.contracts.names import Priority, RewardDevice

MIN_HALF_LIFE_HOURS = 0.01
"""Half a minute: nobody forgives faster, and the arithmetic stays finite."""
BASES = [basis.value for basis in Basis]
BLOCKER_KINDS = [kind.value for kind in BlockerKind]
CHANGES = [change.value for change in Change]
DIRECTIONS = [direction.value for direction in Direction]


class ForecastTimes(Answer):
    earliest = serializers.DateTimeField()
    likely = serializers.DateTimeField()
    latest = serializers.DateTimeField()


class QueueBlocker(Answer):
    kind = serializers.ChoiceField(BLOCKER_KINDS)
    lane_kind = serializers.CharField(help_text="Kind of lane that it is about; empty where it is about no kind.")
    missing = serializers.IntegerField(help_text="Lanes of that kind that are missing.")
    text = serializers.CharField()


class RunsAhead(Answer):
    num_runs = serializers.IntegerField()
    num_runs_of_others = serializers.IntegerField(help_text="Those of projects that are not yours.")
    num_other_projects = serializers.IntegerField()
    lanes = serializers.DictField(child=serializers.IntegerField(), help_text="Lanes that all of them want, by kind.")


class MovedInQueue(Answer):
    words = serializers.CharField(help_text="Such as `moved to the front`.")
    by = serializers.CharField()
    reason = serializers.CharField()
    at = serializers.DateTimeField()


class QueueQuery(serializers.Serializer[Any]):
    pool = name_to_find(required=False, help_text="Only the queue of this pool.")
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_INTEGER, help_text="Only the first so many of each pool."
    )


class PoolQuery(serializers.Serializer[Any]):
    pool = name_to_find(default=DEFAULT_POOL, help_text="Name of the pool.")


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
    why = serializers.CharField(help_text="What it waits for, in one sentence.")
    starts = ForecastTimes(
        allow_null=True,
        help_text="When it is expected to start, if nobody else joins the queue and its order stays; null if unknown.",
    )
    duration_basis = serializers.ChoiceField(
        BASES, help_text="What is known of how long it is going to hold its lanes."
    )
    blockers = QueueBlocker(many=True, help_text="What keeps it from starting.")
    ahead = RunsAhead()
    moved = MovedInQueue(allow_null=True, help_text="What an admin did to its place; null where nobody did.")
    may_change = serializers.BooleanField(help_text="Whether you may change its priority and its lanes.")


class RunningInPool(Answer):
    """A run that holds lanes of a pool."""

    pool = serializers.CharField()
    run_id = serializers.UUIDField(allow_null=True, help_text="Null for a run of a project that is not yours.")
    run_name = serializers.CharField()
    project_id = serializers.UUIDField(allow_null=True)
    project_name = serializers.CharField()
    state = serializers.ChoiceField(STATE_VALUES)
    num_batches = serializers.IntegerField(allow_null=True)
    num_batches_done = serializers.IntegerField(allow_null=True)
    lanes = serializers.DictField(child=serializers.IntegerField(), help_text="Lanes of the pool, by kind.")
    since = serializers.DateTimeField()
    ends = ForecastTimes(allow_null=True, help_text="When it is expected to end; null if unknown.")
    basis = serializers.ChoiceField(BASES, help_text="What the forecast rests on.")
    num_overtaken = serializers.IntegerField(
        help_text="Runs that were ahead of it in the queue when it was started without delaying any of them."
    )


class QueueMove(serializers.Serializer[Any]):
    direction = serializers.ChoiceField(DIRECTIONS)
    reason = serializers.CharField(max_length=200, help_text="Everybody who sees the queue reads it.")


class AlternativeLanes(Answer):
    """Lanes with which a waiting run would start now."""

    change = serializers.ChoiceField(CHANGES)
    lanes = contract_field(LaneSpec, source="lanes_json", help_text="Lanes to ask for instead.")
    slow_down = serializers.FloatField(
        allow_null=True,
        help_text="How many times as long a batch is predicted to take; null if nothing predicts it.",
    )


class LanesToAskFor(serializers.Serializer[Any]):
    num_rollout = serializers.IntegerField(required=False, min_value=0, max_value=MAX_LANES)
    num_trainer = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LANES)
    num_reward = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LANES)
    rewards_on = serializers.ChoiceField(choices=[device.value for device in RewardDevice], required=False)
    pool = name_to_find(required=False)


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
    guaranteed_lanes = serializers.IntegerField(
        default=0, min_value=0, max_value=MAX_SHARE_LANES, help_text="Lanes that the project gets first."
    )
    max_lanes = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=MAX_SHARE_LANES,
        help_text="The most that it may hold; 0 keeps the project out of the pool.",
    )
    weight = Number(
        default=1.0,
        min_value=0,
        max_value=MAX_WEIGHT,
        help_text="Its part, beside others', of lanes nobody is guaranteed.",
    )


class ShareToTry(ShareToSet):
    project = serializers.UUIDField()


class SharesToTry(serializers.Serializer[Any]):
    pool = name_to_find(default=DEFAULT_POOL)
    shares = serializers.ListField(child=ShareToTry(), max_length=1000)
    half_life_hours = Number(
        default=None,
        allow_null=True,
        min_value=MIN_HALF_LIFE_HOURS,
        max_value=SETTINGS["half_life_hours"].high,
        help_text="As if use were forgiven as fast; empty: as it is.",
    )


class PoolPolicy(Answer):
    pool = serializers.CharField(source="pool_id")
    half_life_hours = serializers.FloatField(help_text=HALF_LIFE_HELP)
    reclaim_seconds = serializers.FloatField(help_text=RECLAIM_HELP)
    idle_warning_minutes = serializers.IntegerField(help_text=IDLE_WARNING_HELP)
    idle_release_minutes = serializers.IntegerField(allow_null=True, help_text=IDLE_RELEASE_HELP)


def _bounds(name: str) -> dict[str, float]:
    """The service refuses what lies on a bound that is not allowed, and says so."""
    return {"min_value": SETTINGS[name].low, "max_value": SETTINGS[name].high}


class PolicyToSet(serializers.Serializer[Any]):
    half_life_hours = Number(required=False, **_bounds("half_life_hours"), help_text=HALF_LIFE_HELP)
    reclaim_seconds = Number(required=False, **_bounds("reclaim_seconds"), help_text=RECLAIM_HELP)
    idle_warning_minutes = serializers.IntegerField(
        required=False, **_bounds("idle_warning_minutes"), help_text=IDLE_WARNING_HELP
    )
    idle_release_minutes = serializers.IntegerField(
        required=False, **_bounds("idle_release_minutes"), allow_null=True, help_text=IDLE_RELEASE_HELP
    )
