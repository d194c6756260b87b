"""Presets, base models and prompt sets."""

from typing import Any

from rest_framework import serializers

from catalog.prompt_files import MAX_PROMPT_CHARS, MAX_PROMPTS


class PresetBody(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    spec = serializers.JSONField(help_text="A whole run spec.")


class BaseModelBody(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="What `base_model.path` of a spec says.")
    family = serializers.CharField()
    path = serializers.CharField(source="name")
    description = serializers.CharField()


class PromptSetBody(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    project = serializers.UUIDField(source="project_id")
    num_prompts = serializers.IntegerField()
    prompts = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()


class NewPromptSet(serializers.Serializer[Any]):
    project = serializers.UUIDField()
    name = serializers.CharField(max_length=100)
    prompts = serializers.ListField(
        child=serializers.CharField(max_length=MAX_PROMPT_CHARS), min_length=1, max_length=MAX_PROMPTS
    )
