"""`manage.py prepare`: the steps of `up` before it serves, for installations that start their own processes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from server import environment
from server.errors import CannotStartError
from server.stack import first_start


class Command(BaseCommand):
    help = "Bring tables and static files up to date; make the admin account and a first project if there are none."

    def handle(self, *args: Any, **options: Any) -> None:
        environment.VAR.mkdir(parents=True, exist_ok=True)
        try:
            first_start.migrate_and_collect()
        except CannotStartError as error:
            raise CommandError(str(error)) from error
        admin, password = first_start.ensure_admin(environment.VAR)
        first_start.ensure_project(admin)
        if password is not None:
            kept = environment.VAR / "admin-password"
            # A terminal forgets; a journal or a container's log would keep the password.
            shown = f" with password {password}" if self.stdout.isatty() else ""
            self.stdout.write(f"Made the account {admin.username}{shown}; its password is kept in {kept}")
        self.stdout.write("Ready to serve.")
