"""`manage.py up`: the whole stack on one machine, until Ctrl-C. What it does is in `server.stack`."""

import sys
from typing import Any

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from server.errors import CannotStartError
from server.stack.serving import Work, serve
from server.stack.stopping import end_with_parent


class Command(BaseCommand):
    help = "Start database, broker, Ray head, web server and worker; serve until Ctrl-C."
    # Those of the settings. The others load every view, 20 MB in a process that only starts processes, and are tests.
    requires_system_checks = (Tags.compatibility,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--with-parent", action="store_true", help="End when the parent process (make) ends.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["with_parent"]:
            end_with_parent()
        try:
            code = serve(Console(), self.work(options))
        except CannotStartError as error:
            raise CommandError(str(error)) from error
        sys.exit(code)

    def work(self, options: dict[str, Any]) -> Work | None:
        """What the stack is started for, by the command's options; nothing but to serve."""
        return None
