"""Prompt sets, secrets and mirrors, which users add to a project. Base models and presets are files, not rows."""

import uuid

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from accounts.models import Project
from worker.contracts.mirror_names import MIRROR_NAME
from worker.contracts.rewards import SECRET_NAME

HOST = r"^[A-Za-z0-9.\-\[\]:]+$"


class PromptSet(models.Model):
    """An uploaded set of prompts. Immutable, so that the specs that name it keep their meaning."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="prompt_sets")
    name = models.CharField(max_length=100)
    prompts = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="prompt_set_name_once_per_project"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def num_prompts(self) -> int:
        return len(self.prompts)


class Secret(models.Model):
    """A token for a remote scorer. It is stored encrypted and sent to `host` only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=64, validators=[RegexValidator(SECRET_NAME, "use a-z, 0-9, _ and -")])
    host = models.CharField(max_length=255, validators=[RegexValidator(HOST, "use a host, or host:port")])
    """Host, or host:port, as in a URL: `scorer.example`, `10.0.0.7:8900`."""
    encrypted = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="secret_name_once_per_project"),
        ]

    def __str__(self) -> str:
        return self.name


class MirrorKind(models.TextChoices):
    """Where a mirror writes to."""

    WANDB = "wandb"
    WANDB_OFFLINE = "wandb_offline"
    """W&B's files in a folder of this installation, to be sent by `wandb sync`."""
    MLFLOW = "mlflow"
    TENSORBOARD = "tensorboard"


MAX_MIRROR_ADDRESS_CHARS = 500
MAX_PLACE_CHARS = 200


class Mirror(models.Model):
    """Another tool that shows a project's runs: their metrics, samples and settings are copied to it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="mirrors")
    name = models.CharField(max_length=64, validators=[RegexValidator(MIRROR_NAME, "use a-z, 0-9, _ and -")])
    kind = models.CharField(max_length=13, choices=MirrorKind.choices)
    address = models.CharField(max_length=MAX_MIRROR_ADDRESS_CHARS, blank=True, default="")
    """URL of W&B or of MLflow's tracking server; empty for folders."""
    place = models.CharField(max_length=MAX_PLACE_CHARS)
    """`project` or `entity/project` of W&B, MLflow's experiment, or the folder's name."""
    encrypted = models.TextField(blank=True, default="")
    """The API key, token or `user:password`; empty: none."""
    is_for_every_run = models.BooleanField(default=True)
    """False: for the runs alone whose specs name it."""
    is_active = models.BooleanField(default=True)
    looked_at = models.DateTimeField(default=timezone.now)
    """Of the runs that ended before, it is known which it follows."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="mirror_name_once_per_project"),
            # Two would write each run twice in one place.
            models.UniqueConstraint(fields=["project", "kind", "address", "place"], name="mirror_place_once"),
        ]

    def __str__(self) -> str:
        return self.name
