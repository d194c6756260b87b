"""`manage.py register_node`: add a node of an existing Ray cluster to the pool, and print how to start Ray there."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_slug
from django.db import transaction

from audit.record import record
from fleet.models import Node
from fleet.services import ensure_local_lanes, gpu_resource


class Command(BaseCommand):
    help = "Give a node's lanes to the pool. Repeat it with other numbers to change them; 0 and 0 take them all away."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="Name of the node: letters, digits, hyphens, underscores.")
        parser.add_argument("--num-gpus", type=int, default=0, help="One lane each, for rollout and training.")
        parser.add_argument("--accelerator", default="", help="Their model, e.g. H100: selects the planner's profile.")
        parser.add_argument("--num-cpu-lanes", type=int, default=4, help="For rewards; without GPUs, for everything.")

    def handle(self, *args: Any, **options: Any) -> None:
        name, num_gpus, num_cpu_lanes = options["name"], options["num_gpus"], options["num_cpu_lanes"]
        try:
            validate_slug(name)
        except ValidationError as error:
            raise CommandError(f"`name` must be letters, digits, hyphens and underscores, got {name!r}") from error
        if num_gpus < 0 or num_cpu_lanes < 0:
            raise CommandError(f"lanes must be ≥ 0, got {num_gpus} GPUs and {num_cpu_lanes} CPU lanes")
        wanted = {"num_cpu_lanes": num_cpu_lanes, "num_gpus": num_gpus, "accelerator": options["accelerator"]}
        with transaction.atomic():
            lanes = ensure_local_lanes(**wanted, node=name)
            record("node.register", Node.objects.get(name=name), user=None, actor="manage.py register_node", **wanted)
        self.stdout.write(f"{name} has {len(lanes)} lanes: {', '.join(lane.label for lane in lanes) or 'none'}")
        if num_gpus:
            resources = json.dumps({gpu_resource(name, index): 1 for index in range(num_gpus)})
            self.stdout.write(f"Start Ray on {name} with: --resources='{resources}'")
