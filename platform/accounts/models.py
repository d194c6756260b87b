"""Users, their tokens, projects and memberships. A project owns runs; a member is viewer, editor or owner."""

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from knox.models import AbstractAuthToken

if TYPE_CHECKING:
    from accounts.token_limits import TokenLimits


class MappedRight(models.TextChoices):
    """Rights of the whole installation that groups of an identity provider may give."""

    ADMIN = "admin"
    POOL_ADMIN = "pool_admin"


class User(AbstractUser):  # type: ignore[django-manager-missing]  # of `auth_token_set`: knox has no types
    """A person or an automation account.

    `is_superuser` administers the installation, accounts among it; `is_staff` may open Django's admin, where records
    are read. Neither gives access to projects, which memberships do.
    """

    token_limits: "TokenLimits | None" = None
    """Those of the token that the request came with; none for a session."""
    is_pool_admin = models.BooleanField(
        default=False, help_text="May manage nodes, GPUs, pools, shares and budgets. Superusers may without it."
    )
    is_service_account = models.BooleanField(
        default=False, editable=False, help_text="An account of scripts, which has tokens and never signs in."
    )
    mapped_rights = ArrayField(
        models.CharField(max_length=10, choices=MappedRight.choices),
        default=list,
        blank=True,
        editable=False,
        help_text="Those that groups of the identity provider gave, and take again.",
    )


class TokenScope(models.TextChoices):
    """What a token may do, as far as its user may. Every token may read."""

    READ = "read"
    RUN = "run"
    """Create, control and change runs, and upload prompts."""
    POOL = "pool"
    """What pool admins do."""
    ADMIN = "admin"
    """Tokens, members, secrets and accounts."""


class ApiToken(AbstractAuthToken):
    """A knox token, of which only a hash is stored, with the name that its user gave it and its limits."""

    name = models.CharField(max_length=100, blank=True, default="")
    scopes = ArrayField(
        models.CharField(max_length=10, choices=TokenScope.choices),
        default=list,
        blank=True,
        help_text="Empty: reading alone.",
    )
    is_limited_to_projects = models.BooleanField(default=False)
    projects = models.ManyToManyField("Project", related_name="+", blank=True)
    pools = ArrayField(models.CharField(max_length=63), default=list, blank=True, help_text="Empty: every pool.")
    last_used_at = models.DateTimeField(null=True, blank=True)
    made_with = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="made_tokens",
        help_text="The token that made it, with which it ends.",
    )

    def __str__(self) -> str:
        return self.name or self.token_key


class Project(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=110, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    users = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="projects")

    class Meta:
        ordering = ["name", "created_at"]

    def __str__(self) -> str:
        return self.name


class ProjectRole(models.TextChoices):
    """Ordered from least to most; `accounts.access` is the only reader of the order."""

    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=ProjectRole.choices, default=ProjectRole.VIEWER.value)
    given_role = models.CharField(
        max_length=10,
        choices=ProjectRole.choices,
        null=True,
        blank=True,
        help_text="What was given by hand, where groups of the identity provider give more: nothing, if empty. Null: "
        "`role` itself was.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once_per_project"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"

    @property
    def is_mapped(self) -> bool:
        """Whether groups of the identity provider give the role, and take it again."""
        return self.given_role is not None

    @property
    def role_by_hand(self) -> ProjectRole | None:
        """The role that stays when all groups are lost."""
        by_hand = self.role if self.given_role is None else self.given_role
        return ProjectRole(by_hand) if by_hand else None
