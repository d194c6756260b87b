"""The query parameters of the lending ledger."""

from typing import Any

from rest_framework import serializers

from api.pages import DEFAULT_PAGE, MAX_PAGE
from api.serializers.bounded import MAX_CURSOR_CHARS, Moment, name_to_find
from telemetry.lending.lend_rows import LendKind
from telemetry.lending.lend_sums import LendsBy


class LendsQuery(serializers.Serializer[Any]):
    since = Moment(default=None, help_text="Begin of the window: lends that ended later.")
    until = Moment(default=None, help_text="End of the window: lends that began before.")
    kind = serializers.ChoiceField([kind.value for kind in LendKind], default=None, help_text="Default: both.")
    run = serializers.UUIDField(default=None, help_text="The borrower.")
    project = serializers.UUIDField(default=None, help_text="The borrower's or the lender's.")
    lane = name_to_find(default="", help_text="Label of a lane, or name of a GPU.")


class LendsPageQuery(LendsQuery):
    cursor = serializers.CharField(default="", max_length=MAX_CURSOR_CHARS, help_text="From `next` of the page before.")
    limit = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_PAGE,
        help_text=f"Most lends of a page. Default: {DEFAULT_PAGE}, and all of them as Arrow.",
    )


class LendSumsQuery(LendsQuery):
    by = serializers.ChoiceField([by.value for by in LendsBy], default=LendsBy.BORROWER.value)
