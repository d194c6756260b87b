"""The answer that the home page is made of."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from runs.home_overview import RECENT, RunGroup
from runs.models import STATE_VALUES


class HomeQuery(serializers.Serializer[Any]):
    project = serializers.UUIDField(default=None, help_text="Default: all your projects.")


class HomeRun(Answer):
    id = serializers.UUIDField(source="run.pk")
    name = serializers.CharField(source="run.name")
    project = serializers.CharField(source="run.project.name")
    created_by = serializers.CharField(source="run.created_by.username", default=None, allow_null=True)
    is_mine = serializers.BooleanField()
    state = serializers.ChoiceField(STATE_VALUES, source="run.state")
    state_changed_at = serializers.DateTimeField(source="run.state_changed_at")
    num_batches = serializers.IntegerField(source="run.num_batches")
    num_batches_done = serializers.IntegerField(source="run.num_batches_done")
    started_at = serializers.DateTimeField(source="run.started_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="run.ended_at", allow_null=True)
    last_heartbeat_at = serializers.DateTimeField(source="run.last_heartbeat_at", allow_null=True)
    note = serializers.CharField(help_text="Why it waits, failed, or is warned of; empty for nothing.")


class HomeGroup(Answer):
    group = serializers.ChoiceField(
        [group.value for group in RunGroup],
        help_text=f"`failed` and `finished` are those of the last {RECENT.days} days.",
    )
    number = serializers.IntegerField()
    number_mine = serializers.IntegerField()
    rows = HomeRun(many=True, help_text="Some of them: your own newest, then those of others.")


class HomeAlert(Answer):
    text = serializers.CharField()
    page = serializers.CharField(help_text="Address of the page on which to look into it.")


class Home(Answer):
    groups = HomeGroup(many=True)
    alerts = HomeAlert(many=True)
    pool_reported_at = serializers.DateTimeField(allow_null=True, help_text="When the node agent last reported.")
    now = serializers.DateTimeField(help_text="The server's clock.")
