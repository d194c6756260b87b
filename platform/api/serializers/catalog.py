"""Presets, base models, prompt sets and secrets."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer, contract_field
from catalog.checked_prompts import MAX_PROMPTS
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec


class PresetBody(Answer):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    spec = contract_field(RunSpec)


class BaseModelBody(Answer):
    name = serializers.CharField(help_text="Value for `base_model.path` in a spec.")
    family = contract_field(ModelFamily)
    path = serializers.CharField(source="name")
    description = serializers.CharField()


class PromptSetBody(Answer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    project = serializers.UUIDField(source="project_id")
    num_prompts = serializers.IntegerField()
    prompts = serializers.ListField(child=contract_field(Prompt))
    created_at = serializers.DateTimeField()


class ListedPromptSet(Answer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    project = serializers.UUIDField(source="project_id")
    num_prompts = serializers.IntegerField(source="size")
    first_prompts = serializers.ListField(child=contract_field(Prompt), help_text="At most three.")
    created_at = serializers.DateTimeField()


class PromptItem(serializers.JSONField):
    """A text or an object; `worker.contracts.prompts` bounds it."""


class NewPromptSet(serializers.Serializer[Any]):
    project = serializers.UUIDField()
    name = serializers.CharField(max_length=100)
    prompts = serializers.ListField(
        child=PromptItem(),
        min_length=1,
        max_length=MAX_PROMPTS,
        help_text="Texts, or objects with `text` or `prompt` and what else a prompt has; other keys become metadata.",
    )


class SecretBody(Answer):
    """A secret without its value, which is never shown."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    project = serializers.UUIDField(source="project_id")
    host = serializers.CharField()
    created_at = serializers.DateTimeField()


class NewSecret(serializers.Serializer[Any]):
    project = serializers.UUIDField()
    name = serializers.CharField(max_length=64, help_text="Name by which specs refer to it.")
    host = serializers.CharField(max_length=255, help_text="The only host, or host:port, that it may be sent to.")
    value = serializers.CharField(max_length=4000, write_only=True, trim_whitespace=False)
