"""Registers the app with Django, and has it hear when lanes may be free."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"

    def ready(self) -> None:
        # Models can be imported from here on only.
        from fleet.signals import lanes_available
        from runs.lending.borrowing import lend_soon
        from runs.queue.dispatch import dispatch_soon

        lanes_available.connect(dispatch_soon)
        lanes_available.connect(lend_soon)
