"""Users, tokens, projects and members."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.api_tokens import TokenWish
from accounts.models import ApiToken, ProjectRole, TokenScope
from api.serializers.answers import Answer

MAX_TOKEN_DAYS = 3650
MAX_TOKEN_PROJECTS = 100
"""A token of more is one of every project."""


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
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute; null for one never used.")
    scopes = serializers.ListField(child=serializers.ChoiceField(TokenScope.choices))
    projects = serializers.SerializerMethodField(
        help_text="Ids of the projects that it is limited to; null for every project of its user."
    )
    pools = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the pools that it is limited to; empty for every pool."
    )

    def get_projects(self, token: ApiToken) -> list[UUID] | None:
        return [project.pk for project in token.projects.all()] if token.is_limited_to_projects else None


class CreatedTokenBody(TokenBody):
    token = serializers.CharField(help_text="The token itself. It is shown this once; only its hash is kept.")


class NewToken(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, default="")
    expires_in_days = serializers.IntegerField(
        min_value=1, max_value=MAX_TOKEN_DAYS, required=False, help_text="Default: the server's token lifetime."
    )

    scopes = serializers.ListField(
        child=serializers.ChoiceField(TokenScope.choices),
        default=list(TokenScope.values),
        min_length=1,
        max_length=len(TokenScope),
        help_text="`read` is part of each: `run` creates and controls runs, `pool` does what pool admins do, `admin` "
        "manages tokens, members, secrets and accounts. None gives a right that you have not.",
    )
    projects = serializers.ListField(
        child=serializers.UUIDField(),
        allow_null=True,
        default=None,
        min_length=1,
        max_length=MAX_TOKEN_PROJECTS,
        help_text="Ids of projects to limit it to. Default: all of yours, later ones too.",
    )
    pools = serializers.ListField(
        child=serializers.CharField(max_length=63),
        allow_null=True,
        default=None,
        min_length=1,
        max_length=MAX_TOKEN_PROJECTS,
        help_text="Names of pools that it may act on. Default: every pool.",
    )


def token_wish(asked: dict[str, Any]) -> TokenWish:
    """The values of a `NewToken`."""
    projects, pools = asked["projects"], asked["pools"]
    lifetime = {"lifetime": timedelta(days=asked["expires_in_days"])} if "expires_in_days" in asked else {}
    return TokenWish(
        name=asked["name"],
        scopes=frozenset(map(TokenScope, asked["scopes"])),
        projects=None if projects is None else frozenset(projects),
        pools=None if pools is None else frozenset(pools),
        **lifetime,
    )


class ProjectBody(Answer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    role = serializers.ChoiceField(
        ProjectRole.choices, help_text="Your role in the project, as far as your token goes."
    )
    created_at = serializers.DateTimeField()


class ProjectName(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)


class MemberBody(Answer):
    id = serializers.IntegerField(source="user_id")
    username = serializers.CharField(source="user.username")
    is_service_account = serializers.BooleanField(source="user.is_service_account", help_text="A script's account.")
    role = serializers.ChoiceField(ProjectRole.choices)
    is_mapped = serializers.BooleanField(
        help_text="Whether a group of the identity provider gives the role. It ends with the group."
    )
    created_at = serializers.DateTimeField()


class NewMember(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(ProjectRole.choices, default=ProjectRole.VIEWER.value)


class MemberRole(serializers.Serializer[Any]):
    role = serializers.ChoiceField(ProjectRole.choices)
