"""What is kept for how long, and deletions of what is past its days."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer, operation_field
from retention.deletion_preview import ShownDeletion
from retention.due import Due
from retention.kinds import KINDS, Kind

KINDS_OF_DATA = [kind.value for kind in Kind]


class KeptKind(Answer):
    """A kind of data, and for how long it is kept."""

    kind = serializers.ChoiceField(KINDS_OF_DATA)
    days = serializers.IntegerField(help_text="After the end of its run; 0: for good.")
    setting = serializers.CharField(help_text="The environment variable that says so.")


class Retention(Answer):
    """What is kept for how long."""

    kinds = KeptKind(many=True)
    is_automatic = serializers.BooleanField(help_text="Whether the worker deletes every hour what is past its days.")


class KindPastDays(Answer):
    """What of a kind would be deleted."""

    kind = serializers.ChoiceField(KINDS_OF_DATA)
    days = serializers.IntegerField(help_text="0: kept for good.")
    num_runs = serializers.IntegerField()
    num_rows = serializers.IntegerField()
    num_files = serializers.IntegerField()
    num_bytes = serializers.IntegerField(help_text="Of files, and about of rows: the mean of their table.")
    oldest_ended_at = serializers.DateTimeField(
        allow_null=True, help_text="End of the run that ended first; null for no run, as the next one."
    )
    newest_ended_at = serializers.DateTimeField(allow_null=True)


class SharePastDays(Answer):
    """What one run has of one kind, past its days."""

    kind = serializers.ChoiceField(KINDS_OF_DATA)
    run_id = serializers.UUIDField(source="run.pk")
    run_name = serializers.CharField(source="run.name")
    project_name = serializers.CharField(source="run.project.name")
    ended_at = serializers.DateTimeField(source="run.ended_at")
    num_rows = serializers.IntegerField()
    num_files = serializers.IntegerField()
    num_bytes = serializers.IntegerField()


class DeletionPreview(Answer):
    """What a deletion of it deletes, and no more than that."""

    id = serializers.UUIDField(help_text="What `POST /retention:delete` names, within a day.")
    made_at = serializers.DateTimeField()
    kinds = KindPastDays(many=True)
    shares = SharePastDays(many=True, help_text="By run and kind, the run that ended first at the beginning.")
    num_more_shares = serializers.IntegerField(
        help_text="Past their days too, but too many for one preview; the next one has them."
    )


class DeletionRequest(serializers.Serializer[Any]):
    preview = serializers.UUIDField(help_text="Id of the preview that you were shown.")


class AskedDeletion(Answer):
    """A deletion that was asked for."""

    operation = operation_field()


def preview_answer(shown: ShownDeletion) -> Any:
    """The body of a preview."""
    by_kind = [(kind, [share for share in shown.shares if share.kind is kind]) for kind in Kind]
    return DeletionPreview(
        {
            "id": shown.deletion.pk,
            "made_at": shown.deletion.made_at,
            "kinds": [_sums(kind, shares) for kind, shares in by_kind],
            "shares": shown.shares,
            "num_more_shares": shown.num_more,
        }
    ).data


def _sums(kind: Kind, shares: Iterable[Due]) -> dict[str, Any]:
    of_kind = list(shares)
    ends = [share.run.ended_at for share in of_kind if share.run.ended_at is not None]
    return {
        "kind": kind.value,
        "days": KINDS[kind].days,
        "num_runs": len(of_kind),
        "num_rows": sum(share.num_rows for share in of_kind),
        "num_files": sum(share.num_files for share in of_kind),
        "num_bytes": sum(share.num_bytes for share in of_kind),
        "oldest_ended_at": min(ends, default=None),
        "newest_ended_at": max(ends, default=None),
    }
