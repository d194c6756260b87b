"""Writes to mirrors, which a project's owners manage."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import TO_MANAGE_MIRRORS, require_role
from accounts.encryption import encrypt
from accounts.models import Project, User
from audit.record import record
from catalog.mirror_places import PLACES, place_problems
from catalog.models import Mirror, MirrorKind

AUDITED = ("name", "kind", "address", "place", "is_for_every_run", "is_active")


@transaction.atomic
def create_mirror(
    *, user: User, project: Project, kind: MirrorKind, address: str = "", credential: str = "", **fields: Any
) -> Mirror:
    """A mirror of the project, which follows its runs from now on. Raises `PermissionDenied`, `ValidationError` by
    field."""
    require_role(user, project, TO_MANAGE_MIRRORS)
    mirror = Mirror(project=project, kind=kind, created_by=user, **fields)
    mirror.address = address or PLACES[kind].default_address or ""
    mirror.encrypted = encrypt(credential) if credential else ""
    _check_and_save(mirror)
    record("mirror.create", mirror, user=user, project_id=project.pk, **_audited(mirror))
    return mirror


@transaction.atomic
def change_mirror(*, user: User, mirror: Mirror, **changes: Any) -> Mirror:
    """Write the fields given, of `credential`, `is_for_every_run` and `is_active`. Where it writes stays: what a run
    has there already would be missing elsewhere."""
    require_role(user, mirror.project, TO_MANAGE_MIRRORS)
    if (credential := changes.pop("credential", None)) is not None:
        mirror.encrypted = encrypt(credential) if credential else ""
    for field, value in changes.items():
        setattr(mirror, field, value)
    _check_and_save(mirror)
    told = _audited(mirror) | ({} if credential is None else {"has_new_credential": True})
    record("mirror.change", mirror, user=user, project_id=mirror.project_id, **told)
    return mirror


@transaction.atomic
def delete_mirror(*, user: User, mirror: Mirror) -> None:
    """Stop mirroring. What was written stays where it is."""
    require_role(user, mirror.project, TO_MANAGE_MIRRORS)
    record("mirror.delete", mirror, user=user, project_id=mirror.project_id)
    mirror.delete()


def _check_and_save(mirror: Mirror) -> None:
    mirror.name, mirror.place = mirror.name.strip(), mirror.place.strip()
    mirror.address = mirror.address.strip().rstrip("/")
    mirror.full_clean()
    if problems := place_problems(mirror):
        raise ValidationError(problems)
    mirror.save()


def _audited(mirror: Mirror) -> dict[str, Any]:
    return {field: getattr(mirror, field) for field in AUDITED}
