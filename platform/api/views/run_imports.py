"""Configurations of other trainers as specs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from accounts.models import TokenScope
from api.request_parsing import checked
from api.serializers import run_imports as bodies
from catalog.imports.config_source import function_names
from catalog.imports.diffusers_arguments import import_diffusers
from catalog.imports.flow_grpo_recipes import import_flow_grpo
from catalog.imports.import_kinds import DIFFUSERS, IMPORT_KINDS, guessed_kind
from catalog.imports.imported import ImportRefused
from worker.contracts.spec_yaml import write_yaml


class RunImportView(APIView):
    write_scope = TokenScope.READ

    @extend_schema(request=bodies.ConfigurationToImport, responses=bodies.ImportedSpec)
    def post(self, request: Request) -> Response:
        """Turn a recipe of flow_grpo, or the arguments of a training script of diffusers, into a spec's document, with
        what each setting was made of and what could not be carried. Nothing of the text is run. It holds no prompts,
        and that of diffusers no rewards: add them, then validate."""
        asked = checked(bodies.ConfigurationToImport(data=request.data))
        kind = asked["kind"] or guessed_kind(asked["source"])
        if kind is None:
            raise ValidationError({"kind": [f"the text looks like none of {', '.join(IMPORT_KINDS)}: choose one"]})
        names: list[str] = []
        try:
            if kind == DIFFUSERS:
                found = import_diffusers(asked["source"])
            else:
                names = function_names(asked["source"])
                if not asked["function"]:
                    return Response(bodies.ImportedSpec({"kind": kind, "functions": names}).data)
                found = import_flow_grpo(asked["source"], asked["function"], asked["num_gpus"])
        except ImportRefused as refusal:
            read_as = "" if asked["kind"] else f"read as {kind}'s: "
            raise ValidationError({"source": [f"{read_as}{refusal}"]}) from refusal
        answer = {
            "kind": kind,
            "functions": names,
            "spec": found.document,
            "yaml": write_yaml(found.document),
            "carried": found.carried,
            "left_out": found.left_out,
        }
        return Response(bodies.ImportedSpec(answer).data)
