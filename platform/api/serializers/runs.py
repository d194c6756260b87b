"""Runs: the requests that create and change one, and the rows of its history."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer, contract_field, operation_field
from api.serializers.bounded import name_to_find
from api.serializers.queue import ForecastTimes
from runs.models import MAX_NAME_CHARS, MAX_PRESET_CHARS, STATE_VALUES
from runs.resizing.resize_services import MAX_LANES
from runs.services import MAX_NOTES_CHARS, MAX_TAG_CHARS, MAX_TAGS
from runs.start_checks.check_rows import CheckName, CheckState
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.base import MAX_INTEGER
from worker.contracts.commands import CommandKind
from worker.contracts.names import LaneRole, Priority
from worker.contracts.prompts import MAX_PROMPT_CHARACTERS
from worker.contracts.run_spec import RunSpec
from worker.contracts.spec_yaml import MAX_YAML_CHARACTERS

COMMAND_KINDS = [kind.value for kind in CommandKind]
ACTION_KINDS = [kind.value for kind in CommandKind if kind is not CommandKind.RESIZE]
"""Commands of the actions' address; a resize has one of its own."""
LANE_ROLES = [role.value for role in LaneRole]
CHECK_NAMES = [name.value for name in CheckName]
CHECK_STATES = [state.value for state in CheckState]


class SpecDocument(serializers.JSONField):
    """A run spec as a JSON object, or as YAML text."""


def _notes() -> serializers.CharField:
    return serializers.CharField(required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_NOTES_CHARS)


def _tags() -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(max_length=MAX_TAG_CHARS), required=False, max_length=MAX_TAGS
    )


class Fork(serializers.Serializer[Any]):
    parent = serializers.UUIDField(
        required=False, allow_null=True, help_text="Run that this one repeats with changes, or is forked from."
    )
    checkpoint = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_INTEGER,
        help_text="Id of a checkpoint of `parent` to begin from (a fork). Default: the base model.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("checkpoint") is not None and attrs.get("parent") is None:
            raise serializers.ValidationError({"parent": "`parent` is missing: name the run that `checkpoint` is of"})
        return attrs


class NewRun(Fork):
    project = serializers.UUIDField()
    name = serializers.CharField(max_length=MAX_NAME_CHARS)
    spec = SpecDocument(help_text="A run spec as an object, or as YAML text.")
    notes = _notes()
    tags = _tags()
    preset = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=MAX_PRESET_CHARS,
        help_text="Name of the preset that the spec began as. Default: that of `parent`, or none.",
    )


class RunChanges(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, max_length=MAX_NAME_CHARS)
    notes = _notes()
    tags = _tags()
    archived = serializers.BooleanField(required=False)
    priority = serializers.ChoiceField(
        [priority.value for priority in Priority], required=False, help_text="Only while the run waits."
    )


class DuplicateRequest(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, max_length=MAX_NAME_CHARS)
    spec = SpecDocument(required=False, help_text="Default: the run's own.")


class SpecToValidate(Fork):
    spec = SpecDocument(required=False)
    yaml = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_YAML_CHARACTERS
    )
    project = serializers.UUIDField(required=False, help_text="Project whose uploaded prompt sets the spec may name.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("spec" in attrs) == ("yaml" in attrs):
            raise serializers.ValidationError("give either `spec` or `yaml`")
        return super().validate(attrs)


class Validation(Answer):
    ok = serializers.BooleanField()
    errors = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), help_text="Messages by dotted field path."
    )
    lines = serializers.DictField(
        child=serializers.IntegerField(), help_text="Lines of the YAML that was sent on which the errors' fields stand."
    )
    document = serializers.DictField(
        allow_null=True,
        help_text="What was refused, as it was read; null for a valid spec, and for YAML that is no mapping.",
    )
    algebra = contract_field(BatchAlgebra, allow_null=True)
    algebra_text = serializers.CharField(allow_null=True)
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why a valid spec may still fail, such as too little memory.",
    )
    spec = contract_field(RunSpec, allow_null=True, help_text="The spec with every field written out.")
    yaml = serializers.CharField(allow_null=True)


class RunToCheck(Fork):
    project = serializers.UUIDField(help_text="Project in which the run would be created.")
    spec = SpecDocument(help_text="A run spec as an object, or as YAML text.")


class StartCheck(Answer):
    name = serializers.ChoiceField(CHECK_NAMES)
    state = serializers.ChoiceField(
        CHECK_STATES, help_text="`unknown` is what cannot be seen from the server; the text says why."
    )
    text = serializers.CharField(help_text="What was found.")
    remedy = serializers.CharField(help_text="What to do, in one sentence; empty where there is nothing to do.")
    path = serializers.CharField(help_text="The setting to change; empty where no single one is at fault.")


class StartChecks(Answer):
    checks = StartCheck(many=True, help_text="A refused spec has one check alone.")
    starts = ForecastTimes(allow_null=True, help_text="When it would start if created now; null if unknown.")
    ends = ForecastTimes(allow_null=True, help_text="When it would end; null if unknown.")


class ActionRequest(serializers.Serializer[Any]):
    action = serializers.ChoiceField(ACTION_KINDS)
    prompts = serializers.ListField(
        child=serializers.CharField(max_length=MAX_PROMPT_CHARACTERS),
        required=False,
        max_length=16,
        help_text="Prompts of `sample_now`.",
    )


class AddedLanes(serializers.Serializer[Any]):
    role = serializers.ChoiceField(LANE_ROLES)
    number = serializers.IntegerField(min_value=1, max_value=MAX_LANES, default=1)
    device = name_to_find(
        required=False, help_text="Accelerator that they must have, or `cpu`. Default: any that the role may use."
    )


class ChangedLane(serializers.Serializer[Any]):
    lane = name_to_find(help_text="Id of a lane of the run.")
    role = serializers.ChoiceField(LANE_ROLES)


class ResizeRequest(serializers.Serializer[Any]):
    add = AddedLanes(
        many=True, required=False, max_length=MAX_LANES, help_text="Free lanes of the pool that join the run."
    )
    release = serializers.ListField(
        child=name_to_find(), required=False, max_length=MAX_LANES, help_text="Ids of lanes that leave the run."
    )
    change = ChangedLane(
        many=True, required=False, max_length=MAX_LANES, help_text="Lanes of the run that get another role."
    )


class ResizeAnswer(Answer):
    resize_id = serializers.UUIDField(help_text="Id of the resize, and of its command.")
    operation = operation_field()


class ActionAnswer(Answer):
    command_id = serializers.UUIDField()
    operation = operation_field()


class TransitionBody(Answer):
    stream_seq = serializers.IntegerField()
    old = serializers.CharField(allow_blank=True)
    new = serializers.ChoiceField(STATE_VALUES)
    reason = serializers.CharField()
    actor = serializers.CharField()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()
    request_id = serializers.CharField(
        help_text="`X-Request-ID` of the request that led to it, also through a task; empty where there was none."
    )


class AttemptBody(Answer):
    number = serializers.IntegerField()
    submission_id = serializers.CharField()
    created_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField(allow_blank=True)
    detail = serializers.CharField(allow_blank=True)
    log_tail = serializers.CharField(allow_blank=True)
    resumed_from = serializers.CharField(allow_blank=True)
    num_overtaken = serializers.IntegerField(
        help_text="Runs that were ahead of it in the queue when it was started without delaying any of them."
    )


class CommandBody(Answer):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(COMMAND_KINDS)
    args = serializers.JSONField()
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(allow_null=True)
    done_at = serializers.DateTimeField(allow_null=True)
    accepted = serializers.BooleanField(allow_null=True)
    detail = serializers.CharField(allow_blank=True)
