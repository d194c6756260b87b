"""Registers the app with Django."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class FleetConfig(AppConfig):
    name = "fleet"

    def ready(self) -> None:
        from fleet.models.pools import ensure_default_pool

        post_migrate.connect(ensure_default_pool, sender=self, dispatch_uid="default_pool")
