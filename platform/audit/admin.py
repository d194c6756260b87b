"""The audit log in Django's admin."""

from django.contrib import admin

from audit.models import AuditEntry
from audit.read_only_admin import ReadOnlyAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "action", "object_name", "request_id")
    list_filter = ("action", "object_type")
    search_fields = ("actor", "object_id", "object_name", "request_id")
    date_hierarchy = "at"
