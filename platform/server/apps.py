"""Makes Tandem's Celery app the default one, and registers the settings checks."""

from django.apps import AppConfig


class ServerConfig(AppConfig):
    name = "server"

    def ready(self) -> None:
        # Imported for effect: `send_task` by name must reach our broker from every thread of every web process.
        from server import celery_app, checks

        celery_app.app.set_default()
        checks.register_all()
