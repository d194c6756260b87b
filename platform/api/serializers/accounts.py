"""Users, tokens, projects and members."""

from typing import Any

from rest_framework import serializers

from accounts.models import ProjectRole
from api.serializers.answers import Answer

MAX_TOKEN_DAYS = 3650


class MeBody(Answer):
    id = serializers.IntegerField()
    username = serializers.CharField()
    is_pool_admin = serializers.BooleanField(help_text="Whether the user may manage nodes, GPUs, pools and shares.")
    is_superuser = serializers.BooleanField(help_text="Whether the user administers the installation.")


class AccountBody(MeBody):
    is_active = serializers.BooleanField(help_text="Whether the account may sign in.")


class AccountRights(serializers.Serializer[Any]):
    is_pool_admin = serializers.BooleanField(help_text="Whether the user may manage nodes, GPUs, pools and shares.")


class TokenBody(Answer):
    id = serializers.CharField(source="token_key", help_text="The token's first characters.")
    name = serializers.CharField()
    created_at = serializers.DateTimeField(source="created")
    expires_at = serializers.DateTimeField(source="expiry", allow_null=True)


class CreatedTokenBody(TokenBody):
    token = serializers.CharField(help_text="The token itself. It is shown this once; only its hash is kept.")


class NewToken(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, default="")
    expires_in_days = serializers.IntegerField(
        min_value=1, max_value=MAX_TOKEN_DAYS, required=False, help_text="Default: the server's token lifetime."
    )


class ProjectBody(Answer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    role = serializers.ChoiceField(ProjectRole.choices, help_text="Your role in the project.")
    created_at = serializers.DateTimeField()


class ProjectName(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)


class MemberBody(Answer):
    id = serializers.IntegerField(source="user_id")
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(ProjectRole.choices)
    created_at = serializers.DateTimeField()


class NewMember(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(ProjectRole.choices, default=ProjectRole.VIEWER.value)


class MemberRole(serializers.Serializer[Any]):
    role = serializers.ChoiceField(ProjectRole.choices)
