"""The audit log in Django's admin, read-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from audit.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone
    list_display = ("at", "actor", "action", "object_name", "request_id")
    list_filter = ("action", "object_type")
    search_fields = ("actor", "object_id", "object_name", "request_id")
    date_hierarchy = "at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
