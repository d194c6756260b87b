"""Presets, base models, prompt sets and secrets."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer, contract_field, contract_list
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


class RewardBody(Answer):
    """A scorer that a spec can name."""

    name = serializers.CharField(help_text="Value for `rewards.*.name` in a spec.")
    description = serializers.CharField(help_text="What it measures.")
    scores_images = serializers.BooleanField(source="traits.looks_at.scores_images")
    scores_videos = serializers.BooleanField(
        source="traits.looks_at.scores_videos",
        help_text="Clips as a whole, or by the mean over at most 8 evenly spaced frames.",
    )
    looks_at = serializers.CharField(source="traits.looks_at", help_text="What it is given of a sample.")
    prompt = serializers.CharField(source="traits.prompt", help_text="What it reads of the prompt; empty for nothing.")
    lowest = serializers.FloatField(
        source="traits.lowest", allow_null=True, help_text="The least score; null for no bound."
    )
    highest = serializers.FloatField(source="traits.highest", allow_null=True, help_text="The greatest score.")
    usual = serializers.CharField(source="traits.usual", help_text="The range that scores are in, in words.")
    needs = serializers.CharField(source="traits.needs", help_text="What must be there for it.")
    gamed = serializers.CharField(source="traits.gamed", help_text="How policies are known to exploit it.")
    source = serializers.CharField(source="traits.source", help_text="A paper or a repository; empty for Tandem's own.")
    is_verdict = serializers.BooleanField(help_text="1 for a right sample, 0 for a wrong one: its mean is a share.")
    is_differentiable = serializers.BooleanField(help_text="Whether algorithms that follow its gradient may use it.")
    settings = serializers.DictField(
        allow_null=True, help_text="JSON schema of `rewards.*.settings`; null for a scorer that has none."
    )
    weights = serializers.DictField(
        child=serializers.CharField(allow_null=True),
        help_text="Where its network is loaded from by default, by setting; null where the spec has to name it.",
    )
    presets = serializers.ListField(child=serializers.CharField(), help_text="Names of the presets that use it.")


class PromptSetBody(Answer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    project = serializers.UUIDField(source="project_id")
    num_prompts = serializers.IntegerField()
    prompts = contract_list(Prompt)
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


class PromptItems(serializers.ListField):
    """Prompts whose number alone is bounded here: a look at each of many, beside that of their contract, takes a
    second."""

    child = PromptItem()

    def run_child_validation(self, data: Any) -> Any:
        return data


class NewPromptSet(serializers.Serializer[Any]):
    project = serializers.UUIDField()
    name = serializers.CharField(max_length=100)
    prompts = PromptItems(
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
