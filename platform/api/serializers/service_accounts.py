"""Service accounts: accounts of scripts."""

from typing import Any

from rest_framework import serializers

from accounts.models import ProjectRole
from accounts.service_accounts import MAX_NAME_CHARS
from api.serializers.accounts import NewToken
from api.serializers.answers import Answer

ROLE_HELP = "Its role in the project; null for one of the pool, which does what pool admins do."


class ServiceAccountBody(Answer):
    """An account that has tokens and never signs in."""

    id = serializers.IntegerField()
    name = serializers.CharField(source="username", help_text="`<name>@<slug of the project>`, or `<name>@pool`.")
    project = serializers.UUIDField(source="project_id", allow_null=True, help_text="Null for one of the pool.")
    role = serializers.ChoiceField(ProjectRole.choices, allow_null=True, help_text=ROLE_HELP)
    is_active = serializers.BooleanField()
    created_at = serializers.DateTimeField(source="date_joined")
    num_tokens = serializers.IntegerField()
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="The last use of any of its tokens.")


class NewServiceAccount(serializers.Serializer[Any]):
    project = serializers.UUIDField(
        default=None, allow_null=True, help_text="Null for one of the pool; of administrators."
    )
    name = serializers.CharField(max_length=MAX_NAME_CHARS, help_text="a-z, 0-9 and -.")
    role = serializers.ChoiceField(
        ProjectRole.choices, default=None, allow_null=True, help_text="In the project, where `viewer` is the default."
    )


class ServiceAccountChanges(serializers.Serializer[Any]):
    role = serializers.ChoiceField(ProjectRole.choices, required=False)
    is_active = serializers.BooleanField(
        required=False,
        help_text="Off, its tokens are revoked and its sockets closed at once.",
    )


class NewServiceToken(NewToken):
    """As one's own token, without projects: the account has one, or none."""

    projects = None
