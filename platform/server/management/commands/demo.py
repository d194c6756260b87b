"""`manage.py demo`: `up`, and a run of a preset followed in the terminal."""

from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from server.management.commands import up
from server.stack.demo import follow_demo
from server.stack.serving import Work


class Command(up.Command):
    help = "Like `up`, and create, start and follow a run of a preset. TANDEM_ONESHOT=1 ends with the run."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--preset", default="shapes-demo", help="Name of a preset in deploy/presets.")

    def work(self, options: dict[str, Any]) -> Work:
        return partial(follow_demo, options["preset"])
