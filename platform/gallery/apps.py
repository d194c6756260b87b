"""Registers the app with Django, and its event handlers with telemetry."""

from django.apps import AppConfig


class GalleryConfig(AppConfig):
    name = "gallery"

    def ready(self) -> None:
        from gallery import records

        records.register_all()
