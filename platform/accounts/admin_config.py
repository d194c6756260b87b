"""Registers Django's admin with our site."""

from django.contrib.admin.apps import AdminConfig


class TandemAdminConfig(AdminConfig):
    default_site = "accounts.admin_site.TandemAdminSite"
