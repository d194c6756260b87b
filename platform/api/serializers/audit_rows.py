"""The audit log."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import ModelAnswer
from api.serializers.bounded import Moment, name_to_find
from api.serializers.pool_history import PageQuery
from audit.models import AuditEntry


class AuditRow(ModelAnswer):
    """One change that somebody asked for."""

    changes = serializers.DictField(help_text="The arguments of the call, by field; never a secret's value.")
    project_name = serializers.SerializerMethodField(help_text="As it is called now; empty for no project.")

    class Meta:
        model = AuditEntry
        fields = [
            "id",
            "at",
            "actor",
            "by_service_account",
            "token_key",
            "action",
            "object_type",
            "object_id",
            "object_name",
            "project_id",
            "project_name",
            "request_id",
            "changes",
        ]
        extra_kwargs = {
            "actor": {"help_text": "The user's name at that time, or the command that acted."},
            "by_service_account": {"help_text": "Whether a script's account asked for it, and no person."},
            "token_key": {"help_text": "First characters of the API token; empty for a browser's session."},
            "action": {"help_text": "`<object>.<verb>`, such as `gpu.drain`."},
            "request_id": {"help_text": "The request's `X-Request-ID`; empty where no request asked for it."},
        }

    def get_project_name(self, entry: AuditEntry) -> str:
        names: dict[Any, str] = self.context["project_names"]
        return names.get(entry.project_id, "")


class AuditQuery(PageQuery):
    actor = name_to_find(required=False, help_text="Name of a user, or of a part of Tandem.")
    token_key = name_to_find(required=False, help_text="As the list of tokens shows it.")
    action = name_to_find(required=False, help_text="An action, or the beginning of one: `gpu.`, `run.c`.")
    object_type = name_to_find(required=False)
    object_id = name_to_find(required=False)
    project_id = serializers.UUIDField(required=False)
    request_id = name_to_find(required=False)
    since = Moment(required=False, help_text="Rows from then on.")
    until = Moment(required=False, help_text="Rows before then.")
