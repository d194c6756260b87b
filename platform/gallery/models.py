"""Rows about what a run produced. The bytes are in the artifact storage (`gallery.storage`).

A sample or adapter refers to its artifact by (run, attempt, path), because its event may arrive before or after the
bytes.
"""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from pydantic import TypeAdapter, ValidationError

from gallery.storage import ArtifactRefused, checked_path
from runs.models import CLOCK, Run, unreadable_rows
from worker.contracts.adapter_files import AdapterFile

_FILES: TypeAdapter[tuple[AdapterFile, ...]] = TypeAdapter(tuple[AdapterFile, ...])
_SCORES: TypeAdapter[tuple[dict[str, float], dict[str, str]]] = TypeAdapter(tuple[dict[str, float], dict[str, str]])
"""Of a sample: its rewards, and why others are missing."""


class Artifact(models.Model):
    """Bytes that a driver uploaded. Immutable; an upload of another attempt under the same path is another row."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    attempt = models.PositiveIntegerField()
    path = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    num_bytes = models.PositiveBigIntegerField()
    content_type = models.CharField(max_length=100)
    storage_key = models.CharField(max_length=400)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path", "attempt"], name="artifact_path_once")]


class Sample(models.Model):
    """One picture or clip in the gallery: of a trained batch, of an evaluation, or requested by a user."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    stream_seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    purpose = models.CharField(max_length=16)
    batch = models.PositiveIntegerField()
    policy_version = models.PositiveIntegerField()
    prompt = models.TextField()
    prompt_id = models.CharField(max_length=64)
    prompt_index = models.PositiveIntegerField()
    member = models.PositiveIntegerField()
    seed = models.DecimalField(max_digits=20, decimal_places=0, help_text="Up to 64 bits.")
    reward = models.FloatField(null=True)
    rewards = models.JSONField()
    missing = models.JSONField(default=dict, help_text="Why a reward gave no score, by its key.")
    advantage = models.FloatField(null=True)
    staleness = models.PositiveIntegerField(default=0)
    lane = models.CharField(max_length=64, blank=True, default="")
    artifact_path = models.CharField(max_length=300)
    poster_path = models.CharField(max_length=300, blank=True, default="", help_text="Clips alone have one.")

    class Meta:
        indexes = [models.Index(fields=["run", "purpose", "batch"], name="sample_by_batch")]

    @property
    def is_readable(self) -> bool:
        """False for a row that no event could leave."""
        try:
            for path in filter(None, (self.artifact_path, self.poster_path)):
                checked_path(path)
            return bool(_SCORES.validate_python((self.rewards, self.missing)))
        except (ArtifactRefused, ValidationError):
            return False

    @property
    def picture_path(self) -> str:
        """Path of the picture that a grid shows: the picture itself, or the still picture of a clip."""
        return self.poster_path or self.artifact_path


class Adapter(models.Model):
    """A policy version in diffusers format that users can download: a LoRA file, or folders of whole transformers."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="adapters")
    stream_seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    batch = models.PositiveIntegerField()
    policy_version = models.PositiveIntegerField()
    artifact_path = models.CharField(max_length=300, help_text="The one file; of several, the folder they lie in.")
    sha256 = models.CharField(max_length=64)
    num_bytes = models.PositiveBigIntegerField(help_text="Of all files together.")
    files = models.JSONField(help_text="As in the event: path, checksum and size of each.")
    final = models.BooleanField(default=False)
    at = models.FloatField()

    class Meta:
        indexes = [models.Index(fields=["run", "-stream_seq"], name="adapter_newest")]

    @property
    def all_files(self) -> tuple[AdapterFile, ...]:
        """The version's files: one for a LoRA, several for whole transformers."""
        return _FILES.validate_python(self.files)

    @property
    def is_readable(self) -> bool:
        """False for a row that no event could leave."""
        try:
            return bool(self.all_files) and CLOCK[0] <= self.at <= CLOCK[1]
        except ValidationError:
            return False

    @property
    def is_lora(self) -> bool:
        return len(self.files) == 1

    def artifact_of(self, file: AdapterFile) -> str:
        """The artifact path of one of the version's files."""
        return self.artifact_path if self.is_lora else f"{self.artifact_path}/{file.path}"


class CheckpointRecord(models.Model):
    """A resumable checkpoint in the checkpoint store. The driver keeps only the newest few, but all records stay."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    stream_seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    batch = models.PositiveIntegerField()
    policy_version = models.PositiveIntegerField()
    optimizer_step = models.PositiveIntegerField()
    uri = models.TextField()
    num_bytes = models.PositiveBigIntegerField()
    at = models.FloatField()

    class Meta:
        indexes = [
            models.Index(fields=["run", "-stream_seq"], name="checkpoint_newest"),
            unreadable_rows("checkpoint", clock=["at"]),
        ]


class PreviewState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """A user took it back before it was done."""


class Preview(models.Model):
    """Samples of a user's own prompts, generated with a run's trained version and with its base model by one short
    job."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="previews")
    adapter = models.ForeignKey(Adapter, on_delete=models.CASCADE, related_name="+")
    prompts = models.JSONField()
    num_samples = models.PositiveIntegerField()
    seed = models.PositiveIntegerField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=PreviewState.choices, default=PreviewState.QUEUED.value)
    detail = models.TextField(blank=True, default="")
    code_hash = models.CharField(max_length=64, blank=True, default="")
    token_hash = models.CharField(max_length=64, blank=True, default="")
    deadline = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]


class PreviewImage(models.Model):
    """One picture or clip of a preview: sample `index` of a prompt, by the trained version or by the base model."""

    preview = models.ForeignKey(Preview, on_delete=models.CASCADE, related_name="images")
    with_adapter = models.BooleanField()
    prompt_index = models.PositiveIntegerField()
    index = models.PositiveIntegerField()
    seed = models.PositiveBigIntegerField()
    num_bytes = models.PositiveIntegerField()
    storage_key = models.CharField(max_length=400)

    class Meta:
        ordering = ["prompt_index", "index"]
        constraints = [
            models.UniqueConstraint(
                fields=["preview", "with_adapter", "prompt_index", "index"], name="preview_image_once"
            )
        ]
