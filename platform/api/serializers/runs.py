"""Runs: what is sent to make and change one, and the body that REST and the socket's snapshot share."""

from typing import Any

from rest_framework import serializers

from accounts.models import ProjectRole
from runs.models import STATE_VALUES
from worker.contracts.commands import CommandKind

COMMAND_KINDS = [kind.value for kind in CommandKind]


class RunProject(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    role = serializers.ChoiceField(ProjectRole.choices, help_text="Yours.")


class RunBody(serializers.Serializer[Any]):
    """A run. `runs.run_body.run_body` writes it; this describes it for the schema."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    project = RunProject()
    state = serializers.ChoiceField(STATE_VALUES)
    state_changed_at = serializers.DateTimeField()
    phase = serializers.CharField()
    attempt = serializers.IntegerField()
    max_attempts = serializers.IntegerField()
    spec = serializers.JSONField()
    algebra = serializers.JSONField()
    algebra_text = serializers.CharField()
    num_prompts = serializers.IntegerField()
    num_batches = serializers.IntegerField()
    num_batches_done = serializers.IntegerField()
    policy_version = serializers.IntegerField()
    headline = serializers.JSONField(help_text="Held-out evaluation, first and latest.")
    failure = serializers.JSONField(allow_null=True, help_text="reason, phase, details, log_tail, suggestions.")
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    last_heartbeat_at = serializers.DateTimeField(allow_null=True)
    notes = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    archived_at = serializers.DateTimeField(allow_null=True)
    parent = serializers.UUIDField(allow_null=True)
    resume_batch = serializers.IntegerField(allow_null=True)
    ending = serializers.CharField(allow_null=True)
    legal_actions = serializers.ListField(child=serializers.ChoiceField(COMMAND_KINDS))
    waiting = serializers.CharField(help_text="What a queued run waits for.")


class RunsQuery(serializers.Serializer[Any]):
    project = serializers.UUIDField(required=False)
    state = serializers.ChoiceField(STATE_VALUES, required=False)
    tag = serializers.CharField(required=False)
    archived = serializers.BooleanField(default=False, help_text="Archived runs only. Default: the others.")
    search = serializers.CharField(required=False, help_text="Words of the name or the notes.")


class SpecDocument(serializers.JSONField):
    """A run spec as a JSON object, or as YAML text."""


class NewRun(serializers.Serializer[Any]):
    project = serializers.UUIDField()
    name = serializers.CharField(max_length=120)
    spec = SpecDocument(help_text="A run spec as an object, or as YAML text.")
    parent = serializers.UUIDField(required=False, allow_null=True)
    notes = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)


class RunChanges(serializers.Serializer[Any]):
    name = serializers.CharField(required=False)
    notes = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    archived = serializers.BooleanField(required=False)


class DuplicateRequest(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, max_length=120)
    spec = SpecDocument(required=False, help_text="Default: the run's own.")


class SpecToValidate(serializers.Serializer[Any]):
    spec = SpecDocument(required=False)
    yaml = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    project = serializers.UUIDField(required=False, help_text="Also look up uploaded prompt sets there.")

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if ("spec" in attrs) == ("yaml" in attrs):
            raise serializers.ValidationError("give either `spec` or `yaml`")
        return attrs


class Validation(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    errors = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), help_text="Messages by dotted field path."
    )
    algebra = serializers.JSONField(allow_null=True)
    algebra_text = serializers.CharField(allow_null=True)
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="What is legal and yet unlikely to work, e.g. for want of memory."
    )
    spec = serializers.JSONField(allow_null=True, help_text="Normalised: every field written out.")
    yaml = serializers.CharField(allow_null=True)


class ActionRequest(serializers.Serializer[Any]):
    action = serializers.ChoiceField(COMMAND_KINDS)
    prompts = serializers.ListField(
        child=serializers.CharField(max_length=2000), required=False, max_length=16, help_text="For `sample_now`."
    )


class ActionAnswer(serializers.Serializer[Any]):
    command_id = serializers.UUIDField()


class TransitionBody(serializers.Serializer[Any]):
    stream_seq = serializers.IntegerField()
    old = serializers.CharField(allow_blank=True)
    new = serializers.ChoiceField(STATE_VALUES)
    reason = serializers.CharField()
    actor = serializers.CharField()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()


class AttemptBody(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    submission_id = serializers.CharField()
    created_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField(allow_blank=True)
    detail = serializers.CharField(allow_blank=True)
    log_tail = serializers.CharField(allow_blank=True)
    resumed_from = serializers.CharField(allow_blank=True)


class CommandBody(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(COMMAND_KINDS)
    args = serializers.JSONField()
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(allow_null=True)
    done_at = serializers.DateTimeField(allow_null=True)
    accepted = serializers.BooleanField(allow_null=True)
    detail = serializers.CharField(allow_blank=True)
