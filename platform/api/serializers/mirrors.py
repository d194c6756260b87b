"""Mirrors of projects, and how far each has got with a run."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from api.serializers.answers import Answer
from catalog.mirror_places import mirror_folder
from catalog.models import MAX_MIRROR_ADDRESS_CHARS, MAX_PLACE_CHARS, Mirror, MirrorKind
from mirrors.models import MirroredRun, MirroringState

KIND_HELP = "`wandb_offline` writes W&B's files to a folder, for `wandb sync`."
ADDRESS_HELP = "URL of W&B or of MLflow's tracking server; empty for folders, and for W&B's own cloud."
PLACE_HELP = "`project` or `entity/project` of W&B, MLflow's experiment, or the folder's name."
CREDENTIAL_HELP = "API key of W&B; token or `user:password` of MLflow. Stored encrypted and never shown."
EVERY_RUN_HELP = "False: for the runs alone whose specs name it."
MAX_CREDENTIAL_CHARS = 2000
"""Longer than any key or token; a limit, so that no file is stored here."""


class MirrorBody(Answer):
    """A mirror without its credential, which is never shown."""

    id = serializers.UUIDField()
    project = serializers.UUIDField(source="project_id")
    name = serializers.CharField()
    kind = serializers.ChoiceField(MirrorKind.choices, help_text=KIND_HELP)
    address = serializers.CharField(help_text=ADDRESS_HELP)
    place = serializers.CharField(help_text=PLACE_HELP)
    folder = serializers.SerializerMethodField(help_text="Below `TANDEM_VAR`; empty for servers.")
    is_for_every_run = serializers.BooleanField(help_text=EVERY_RUN_HELP)
    is_active = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    num_runs = serializers.IntegerField(help_text="Runs that it has, or follows.")
    num_failing = serializers.IntegerField(help_text="Those of them that are tried again, or were given up.")

    def get_folder(self, mirror: Mirror) -> str:
        return folder_of(mirror)


def folder_of(mirror: Mirror, *below: str) -> str:
    """Its folder below `TANDEM_VAR`; empty for servers."""
    folder = mirror_folder(mirror)
    return "" if folder is None else folder.joinpath(*below).relative_to(settings.TANDEM_VAR).as_posix()


def _credential(**options: Any) -> serializers.CharField:
    return serializers.CharField(
        max_length=MAX_CREDENTIAL_CHARS, allow_blank=True, write_only=True, help_text=CREDENTIAL_HELP, **options
    )


class NewMirror(serializers.Serializer[Any]):
    project = serializers.UUIDField()
    name = serializers.CharField(max_length=64, help_text="By which specs name it: a-z, 0-9, _ and -.")
    kind = serializers.ChoiceField(MirrorKind.choices, help_text=KIND_HELP)
    address = serializers.CharField(
        max_length=MAX_MIRROR_ADDRESS_CHARS, default="", allow_blank=True, help_text=ADDRESS_HELP
    )
    place = serializers.CharField(max_length=MAX_PLACE_CHARS, help_text=PLACE_HELP)
    credential = _credential(default="")
    is_for_every_run = serializers.BooleanField(default=True, help_text=EVERY_RUN_HELP)


class MirrorChanges(serializers.Serializer[Any]):
    credential = _credential(required=False)
    is_for_every_run = serializers.BooleanField(required=False, help_text=EVERY_RUN_HELP)
    is_active = serializers.BooleanField(required=False, help_text="Off, it gets nothing more; on again, all it lacks.")


class TriedAgain(Answer):
    num_runs = serializers.IntegerField(help_text="Runs that are tried again at once.")


class MirroredRunBody(Answer):
    """A run in one mirror."""

    mirror = serializers.UUIDField(source="mirror_id")
    name = serializers.CharField(source="mirror.name")
    kind = serializers.ChoiceField(MirrorKind.choices, source="mirror.kind")
    is_active = serializers.BooleanField(source="mirror.is_active")
    state = serializers.ChoiceField(MirroringState.choices)
    url = serializers.CharField(help_text="The run's page there; empty for folders, and before anything is there.")
    folder = serializers.SerializerMethodField(help_text="Below `TANDEM_VAR`; empty for servers.")
    batch = serializers.IntegerField(help_text="Everything up to this batch is there.")
    num_batches_behind = serializers.SerializerMethodField()
    num_pictures_left_out = serializers.IntegerField(help_text="Not stored in time, or not taken there.")
    num_failures = serializers.IntegerField(help_text="Failed tries since the last that was accepted.")
    error = serializers.CharField(help_text="Of the last try; empty where it was accepted.")
    next_at = serializers.DateTimeField(allow_null=True, help_text="When it is written next.")
    begun_at = serializers.DateTimeField(allow_null=True, help_text="Since when it is being written; null between two.")
    accepted_at = serializers.DateTimeField(allow_null=True)

    def get_folder(self, row: MirroredRun) -> str:
        # W&B makes a folder of its own for each session, of all runs side by side.
        return folder_of(row.mirror, *([] if row.mirror.kind == MirrorKind.WANDB_OFFLINE else [row.label]))

    def get_num_batches_behind(self, row: MirroredRun) -> int:
        return 0 if row.state == MirroringState.DONE else max(row.run.num_batches_done - row.batch, 0)


class RunToMirror(serializers.Serializer[Any]):
    mirror = serializers.UUIDField(help_text="One of the run's project.")
    from_beginning = serializers.BooleanField(default=False, help_text="Write again what is there already, too.")
