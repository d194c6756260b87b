"""Runs: the requests for lists of them, and for an action on several at once."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from api.pages import DEFAULT_PAGE, MAX_PAGE
from api.serializers.answers import Answer, contract_field
from api.serializers.bounded import name_to_find, some_of, words_to_find
from runs.bulk_actions import MAX_RUNS, BulkAction
from runs.models import MAX_VIEW_NAME_CHARS, STATE_VALUES
from runs.run_body import ListedRun
from runs.run_table import GroupBy, RunColumn
from runs.services import MAX_TAG_CHARS
from worker.contracts.base import MAX_INTEGER

MAX_COLUMNS = 30
"""Twice as many as the table has."""
MAX_DAYS = 3650
"""Ten years: longer than any installation has run."""


class RunsQuery(serializers.Serializer[Any]):
    project = serializers.UUIDField(required=False)
    state = some_of("One state or several", STATE_VALUES)
    tag = words_to_find(required=False)
    mine = serializers.BooleanField(default=False, help_text="Whether to list only the runs that you created.")
    ended_days = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_DAYS, help_text="Only runs that ended within so many days."
    )
    archived = serializers.BooleanField(
        default=False, help_text="Whether to list only the archived runs. Default: only the others."
    )
    search = words_to_find(required=False, help_text="Words of the name, the notes or a tag.")


class TableQuery(RunsQuery):
    order = serializers.ChoiceField(
        [column.value for column in RunColumn],
        default=RunColumn.CREATED.value,
        help_text="Column that the rows are ordered by; rows without a value come last.",
    )
    descending = serializers.BooleanField(default=True)
    group = serializers.ChoiceField(
        [group.value for group in GroupBy], default=None, help_text="What rows are put together by. Default: nothing."
    )
    offset = serializers.IntegerField(default=0, min_value=0, max_value=MAX_INTEGER)
    limit = serializers.IntegerField(default=DEFAULT_PAGE, min_value=1, max_value=MAX_PAGE)


class RunGroup(Answer):
    value = serializers.CharField(
        help_text="What its runs have in common; empty for no tag, no preset or a deleted account."
    )
    number = serializers.IntegerField()
    num_live = serializers.IntegerField(help_text="Runs that hold lanes or are about to.")
    num_failed = serializers.IntegerField()
    num_batches_done = serializers.IntegerField(help_text="Of all its runs together.")
    best_reward = serializers.FloatField(
        allow_null=True, help_text="Best held-out reward of their newest evaluations; null without any."
    )
    mean_reward = serializers.FloatField(allow_null=True, help_text="Mean of the same.")


class ViewQuery(RunsQuery):
    """What a view keeps of `TableQuery`: everything but the stretch. Only what is sent is kept."""

    order = serializers.ChoiceField([column.value for column in RunColumn], required=False)
    descending = serializers.BooleanField(required=False)
    group = serializers.ChoiceField([group.value for group in GroupBy], required=False)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := [name for name in data if name not in self.fields]):
            known = ", ".join(self.fields)
            raise serializers.ValidationError({str(unknown[0]): f"a view keeps {known}; got `{unknown[0]!s:.40}`"})
        return super().to_internal_value(data)


class RunTable(Answer):
    number = serializers.IntegerField(help_text="Of all runs that match.")
    groups = RunGroup(
        many=True,
        help_text="In the order of their rows, which they count; none unless grouped. "
        "A run of several tags has a row for each.",
    )
    results = serializers.ListField(child=contract_field(ListedRun))


class ViewToSave(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=MAX_VIEW_NAME_CHARS)
    query = ViewQuery(help_text="What the view shows: parameters of `GET /runs:table`; `state` as a list by commas.")
    columns = serializers.ListField(
        child=name_to_find(), default=list, max_length=MAX_COLUMNS, help_text="Columns in view; empty: the usual ones."
    )
    is_dense = serializers.BooleanField(default=False)
    project = serializers.UUIDField(
        default=None, allow_null=True, help_text="Share it with the members of this project. Default: with nobody."
    )


class SavedViewBody(Answer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    query = serializers.DictField()
    columns = serializers.ListField(child=serializers.CharField())
    is_dense = serializers.BooleanField()
    project = serializers.UUIDField(source="project_id", allow_null=True, help_text="Null for a view of your own.")
    project_name = serializers.CharField(source="project.name", default="")
    saved_by = serializers.CharField(source="user.username")


class BulkRequest(serializers.Serializer[Any]):
    ids = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=MAX_RUNS)
    action = serializers.ChoiceField([action.value for action in BulkAction])
    tag = serializers.CharField(required=False, max_length=MAX_TAG_CHARS, help_text="Of `tag` and `untag`.")
    all_or_none = serializers.BooleanField(default=False, help_text="Do nothing where one of the runs refuses.")


class Refusal(Answer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    reason = serializers.CharField(help_text="One sentence.")


class BulkAnswer(Answer):
    done = serializers.ListField(child=serializers.UUIDField(), help_text="The runs that it was done to.")
    refused = Refusal(many=True)
