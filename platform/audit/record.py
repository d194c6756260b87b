"""Appends to the audit log: services call `record` inside the transaction that makes the change."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db import models

from audit.models import AuditEntry
from audit.request_context import current_request


def record(
    action: str,
    target: models.Model,
    *,
    user: AbstractBaseUser | None,
    project_id: UUID | None = None,
    actor: str = "",
    object_id: str = "",
    **changes: Any,
) -> AuditEntry:
    """Append that `user` did `action` to `target`, with the arguments `changes`. Call it before `target` is deleted.

    `actor` names the cause where no user acts, such as a management command; `object_id` is the identifier that users
    know, if it is not the primary key.
    """
    request = current_request()
    return AuditEntry.objects.create(
        user_id=None if user is None else user.pk,
        actor=actor if user is None else user.get_username(),
        # This app is below that of accounts, whose users know it of themselves.
        by_service_account=getattr(user, "is_service_account", False),
        request_id=request.request_id,
        token_key=request.token_key,
        action=action,
        object_type=str(target._meta.model_name),
        object_id=object_id or str(target.pk),
        object_name=str(getattr(target, "name", None) or target)[:200],
        project_id=project_id,
        changes=changes,
    )
