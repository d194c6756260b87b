"""Configurations of other trainers, and what became of them."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from catalog.imports.import_kinds import IMPORT_KINDS
from catalog.imports.imported import MAX_CHARACTERS

MAX_GPUS = 4096


class ConfigurationToImport(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(
        choices=IMPORT_KINDS,
        allow_null=True,
        default=None,
        help_text="Of which trainer's configuration it is the text. Default: what the text looks like.",
    )
    source = serializers.CharField(
        max_length=MAX_CHARACTERS,
        trim_whitespace=False,
        help_text="flow_grpo's `config/grpo.py`; or the command that started a training script of diffusers, or its "
        "arguments in YAML or JSON, as accelerate keeps them in `hparams.yml`.",
    )
    function = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="Of flow_grpo's file: the function to read; empty: only name them.",
    )
    num_gpus = serializers.IntegerField(
        min_value=1,
        max_value=MAX_GPUS,
        allow_null=True,
        default=None,
        help_text="On how many GPUs it was run. Default: its `gpu_number`.",
    )


class CarriedSetting(Answer):
    path = serializers.CharField(help_text="The setting of the spec.")
    value = serializers.JSONField()
    source = serializers.CharField(help_text="The settings that it was made of.")


class LeftOutSetting(Answer):
    source = serializers.CharField(help_text="The setting that was read.")
    value = serializers.JSONField()
    why = serializers.CharField()


class ImportedSpec(Answer):
    kind = serializers.ChoiceField(choices=IMPORT_KINDS, help_text="As what the text was read.")
    functions = serializers.ListField(
        child=serializers.CharField(), help_text="The configurations of flow_grpo's file."
    )
    spec = serializers.DictField(
        default=dict, help_text="The spec's document, without prompts; of diffusers, without rewards too."
    )
    yaml = serializers.CharField(default="", help_text="The same as YAML; empty where there is none.")
    carried = CarriedSetting(many=True, default=list)
    left_out = LeftOutSetting(many=True, default=list)
