"""The audit log for those who may read it."""

from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from accounts.access import Actor, audited_projects
from audit.models import AuditEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """What rows must match; empty fields match all. Each is the field's name in a filter of the table."""

    actor: str = ""
    token_key: str = ""
    action: str = ""
    """A whole action, or its object with a dot: `gpu.` matches all that was done to GPUs."""
    object_type: str = ""
    object_id: str = ""
    project_id: UUID | None = None
    request_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    """Rows before then."""


_LOOKUPS = {"action": "action__startswith", "since": "at__gte", "until": "at__lt"}


def audit_entries(user: Actor, wanted: AuditFilter) -> QuerySet[AuditEntry]:
    """The rows that match every filter given, of those that the user may read; nothing for who may read none."""
    rows = AuditEntry.objects.all()
    projects = audited_projects(user)
    if projects is not None:
        # Read first: a subquery would keep the table's index by project and time from being used.
        rows = rows.filter(project_id__in=list(projects.values_list("pk", flat=True)))
    asked = {field.name: getattr(wanted, field.name) for field in fields(wanted)}
    return rows.filter(**{_LOOKUPS.get(name, name): value for name, value in asked.items() if value})
