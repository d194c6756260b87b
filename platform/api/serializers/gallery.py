"""Samples, adapters, checkpoints, previews."""

from typing import Any
from urllib.parse import quote

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.contract_schema import component
from api.serializers.answers import Answer, ModelAnswer, contract_list, operation_field
from gallery import previews
from gallery.archives import folder_of
from gallery.models import Adapter, Preview, PreviewImage, PreviewState, Sample
from gallery.storage import content_type
from runs.operation_ids import OperationKind, operation_id
from telemetry.prompts.batch_groups import GroupOfBatch
from worker.contracts.adapter_files import AdapterFile
from worker.contracts.base import MAX_INTEGER
from worker.contracts.names import Tuning
from worker.contracts.previews import MAX_PREVIEW_PROMPTS, MAX_PREVIEW_SAMPLES
from worker.contracts.prompts import MAX_PROMPT_CHARACTERS
from worker.contracts.spec_bounds import MAX_BATCHES

PURPOSES = ("train", "evaluate", "request")


def artifact_url(run_id: object, path: str, attempt: int) -> str:
    return f"/api/v1/runs/{run_id}/artifacts/{quote(path)}?attempt={attempt}"


def is_video(media_type: str) -> bool:
    return media_type.startswith("video/")


class SamplesQuery(serializers.Serializer[Any]):
    purpose = serializers.ChoiceField(PURPOSES, default="")
    batch = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_BATCHES,
        help_text="Batch of the samples. Default: the newest that has pictures.",
    )


class ArtifactQuery(serializers.Serializer[Any]):
    attempt = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_INTEGER,
        help_text="Attempt that made the file. Default: the newest that has the path.",
    )


class ScheduleLogQuery(serializers.Serializer[Any]):
    attempt = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_INTEGER,
        help_text="Attempt that the log is of. Default: the newest that has one.",
    )


class SampleBody(ModelAnswer):
    purpose = serializers.ChoiceField(PURPOSES)
    seed = serializers.CharField(help_text="A number of up to 64 bits, written as text since JSON numbers have fewer.")
    media_type = serializers.SerializerMethodField(help_text="`image/png`, or `video/webm` for clips.")
    image_url = serializers.SerializerMethodField(help_text="The picture, or a clip's first frame.")
    clip_url = serializers.SerializerMethodField(help_text="The clip; null for a picture.")
    rewards = serializers.DictField(child=serializers.FloatField())
    missing = serializers.DictField(child=serializers.CharField(), help_text="Why a reward gave no score, by its key.")

    class Meta:
        model = Sample
        fields = [
            "purpose",
            "batch",
            "attempt",
            "policy_version",
            "prompt",
            "prompt_id",
            "prompt_index",
            "member",
            "seed",
            "reward",
            "rewards",
            "missing",
            "advantage",
            "staleness",
            "lane",
            "media_type",
            "image_url",
            "clip_url",
        ]

    def get_media_type(self, sample: Sample) -> str:
        return content_type(sample.artifact_path)

    def get_image_url(self, sample: Sample) -> str:
        """An address, or the picture itself as a `data:` URI where the view found it small."""
        small: str | None = self.context.get("inline", {}).get((sample.attempt, sample.picture_path))
        return small or artifact_url(sample.run_id, sample.picture_path, sample.attempt)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_clip_url(self, sample: Sample) -> str | None:
        is_clip = is_video(content_type(sample.artifact_path))
        return artifact_url(sample.run_id, sample.artifact_path, sample.attempt) if is_clip else None


class SamplesBody(Answer):
    batches = serializers.ListField(child=serializers.IntegerField(), help_text="Batches that have pictures.")
    groups = contract_list(
        GroupOfBatch, help_text="The groups of a training batch, whole: its pictures may be of some members only."
    )
    results = SampleBody(many=True)


class DownloadableFile(Answer):
    path = serializers.CharField(help_text="Path within the version's folder.")
    num_bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    url = serializers.CharField()


class AdapterBody(ModelAnswer):
    tuning = serializers.SerializerMethodField(help_text="`lora`: one file; `full`: the whole transformer, in several.")
    files = serializers.SerializerMethodField()
    folder = serializers.SerializerMethodField(help_text="Name of the folder that the archive unpacks to.")
    url = serializers.SerializerMethodField(help_text="The LoRA file; of several files, all of them as one tar.")
    archive_url = serializers.SerializerMethodField(help_text="All files as one uncompressed tar.")
    created_at = serializers.FloatField(source="at", help_text="Unix seconds.")

    class Meta:
        model = Adapter
        fields = [
            "id",
            "attempt",
            "batch",
            "policy_version",
            "tuning",
            "final",
            "num_bytes",
            "sha256",
            "files",
            "folder",
            "url",
            "archive_url",
            "created_at",
        ]

    @extend_schema_field(component(Tuning))
    def get_tuning(self, adapter: Adapter) -> str:
        return (Tuning.LORA if adapter.is_lora else Tuning.FULL).value

    @extend_schema_field(DownloadableFile(many=True))
    def get_files(self, adapter: Adapter) -> list[dict[str, Any]]:
        def url(file: AdapterFile) -> str:
            return artifact_url(adapter.run_id, adapter.artifact_of(file), adapter.attempt)

        return [{**file.model_dump(), "url": url(file)} for file in adapter.all_files]

    def get_folder(self, adapter: Adapter) -> str:
        return folder_of(adapter)

    def get_url(self, adapter: Adapter) -> str:
        if not adapter.is_lora:
            return self.get_archive_url(adapter)
        return artifact_url(adapter.run_id, adapter.artifact_path, adapter.attempt)

    def get_archive_url(self, adapter: Adapter) -> str:
        return f"/api/v1/runs/{adapter.run_id}/adapters/{adapter.pk}/archive"


class NewPreview(serializers.Serializer[Any]):
    prompts = serializers.ListField(
        child=serializers.CharField(max_length=MAX_PROMPT_CHARACTERS), min_length=1, max_length=MAX_PREVIEW_PROMPTS
    )
    num_samples = serializers.IntegerField(default=4, min_value=1, max_value=MAX_PREVIEW_SAMPLES)
    seed = serializers.IntegerField(default=0, min_value=0, max_value=MAX_INTEGER - MAX_PREVIEW_SAMPLES)
    adapter = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_INTEGER,
        help_text="Id of the version. Default: the newest.",
    )


class PreviewAnswer(Answer):
    preview_id = serializers.UUIDField()
    operation = operation_field()


class PreviewImageBody(Answer):
    prompt = serializers.CharField()
    seed = serializers.IntegerField()
    media_type = serializers.CharField(help_text="`image/png`, or `video/webm` for clips.")
    image_url = serializers.CharField(allow_null=True, help_text="The picture; null for a clip.")
    clip_url = serializers.CharField(allow_null=True, help_text="The clip; null for a picture.")


class PreviewBody(ModelAnswer):
    prompts = serializers.ListField(child=serializers.CharField())
    state = serializers.SerializerMethodField()
    waiting = serializers.SerializerMethodField(help_text="What a queued preview waits for.")
    error = serializers.SerializerMethodField()
    samples = serializers.SerializerMethodField(help_text="Samples of the trained version.")
    base_samples = serializers.SerializerMethodField(help_text="Samples of the base model from the same seeds.")
    policy_version = serializers.IntegerField(source="adapter.policy_version")
    operation = serializers.SerializerMethodField(help_text="Its operation: `GET /operations/{id}`.")

    class Meta:
        model = Preview
        fields = [
            "id",
            "state",
            "waiting",
            "error",
            "prompts",
            "num_samples",
            "seed",
            "policy_version",
            "created_at",
            "samples",
            "base_samples",
            "operation",
        ]

    @extend_schema_field(serializers.ChoiceField(PreviewState.choices))
    def get_state(self, preview: Preview) -> str:
        return previews.current_state(preview)[0].value

    def get_operation(self, preview: Preview) -> str:
        return operation_id(OperationKind.PREVIEW, preview.pk)

    def get_waiting(self, preview: Preview) -> str:
        state, detail = previews.current_state(preview)
        return detail if state is PreviewState.QUEUED else ""

    def get_error(self, preview: Preview) -> str:
        state, detail = previews.current_state(preview)
        return detail if state is PreviewState.FAILED else ""

    @extend_schema_field(PreviewImageBody(many=True))
    def get_samples(self, preview: Preview) -> list[dict[str, Any]]:
        return self._images(preview, with_adapter=True)

    @extend_schema_field(PreviewImageBody(many=True))
    def get_base_samples(self, preview: Preview) -> list[dict[str, Any]]:
        return self._images(preview, with_adapter=False)

    def _images(self, preview: Preview, *, with_adapter: bool) -> list[dict[str, Any]]:
        inline: dict[str, str] = self.context.get("inline", {})
        address = f"/api/v1/runs/{preview.run_id}/previews/{preview.pk}/images"

        def body(image: PreviewImage) -> dict[str, Any]:
            media_type = content_type(image.storage_key)
            url = inline.get(image.storage_key) or f"{address}/{previews.image_name(image)}"
            return {
                "prompt": preview.prompts[image.prompt_index],
                "seed": image.seed,
                "media_type": media_type,
                "image_url": None if is_video(media_type) else url,
                "clip_url": url if is_video(media_type) else None,
            }

        return [body(image) for image in preview.images.all() if image.with_adapter == with_adapter]
