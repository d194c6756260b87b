"""Checks a spec as the form and REST send it: errors by field path, or the spec with its resolved prompts.

Invariant: `create_run` uses the same check, so a spec that validates can be created.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from accounts.models import Project
from catalog.base_models import ModelNotUsable, resolve_base_model
from catalog.model_configs import model_problems
from catalog.prompt_pictures import picture_problem
from catalog.scorers import scorer_problems
from catalog.selectors import prompts_of_set
from fleet.allocation.device_mixes import gang_alike
from fleet.selectors import pool_devices
from runs.planning.device_order import best_first
from runs.pool_check import pool_problems
from runs.wait_reasons import lacking
from worker.contracts.families import negative_prompt_problem
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.profiles.hardware import ACCELERATORS, profile_name

Errors = dict[str, list[str]]
_NAMED_FIELD = re.compile(r"`([a-z_]+(?:\.[a-z_0-9]+)*)`")
WHOLE_SPEC = "spec"
"""Path of errors that belong to no single field."""


@dataclass(frozen=True, slots=True)
class SpecReport:
    """The result of a check. `spec` and `prompts` are set exactly if there are no `errors`."""

    errors: Errors = field(default_factory=dict)
    spec: RunSpec | None = None
    prompts: tuple[Prompt, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.errors


def check_spec(
    document: Mapping[str, Any] | str | RunSpec, project: Project | None = None, *, is_hypothetical: bool = False
) -> SpecReport:
    """Check a mapping, YAML or JSON text, or a `RunSpec`.

    Without `project`, uploaded prompt sets and shares are not looked up. A hypothetical spec, which is only planned,
    may ask for more lanes than its pool has.
    """
    try:
        spec = _parse(document)
    except ValidationError as error:
        return SpecReport(errors=errors_by_path(error))
    except ValueError as error:
        return SpecReport(errors={WHOLE_SPEC: [str(error)]})
    errors: Errors = {}
    prompts = spec.prompts.inline
    try:
        model_path = resolve_base_model(spec.base_model.path)
    except ModelNotUsable as error:
        errors["base_model.path"] = [str(error)]
    else:
        errors.update({path: [problem] for path, problem in model_problems(spec, model_path).items()})
    errors.update({path: [problem] for path, problem in scorer_problems(spec, project).items()})
    errors.update({path: [problem] for path, problem in pool_problems(spec, project, any_size=is_hypothetical).items()})
    if spec.prompts.prompt_set is not None and project is not None:
        try:
            prompts = prompts_of_set(project, spec.prompts.prompt_set)
        except LookupError as error:
            errors["prompts.prompt_set"] = [str(error)]
        else:
            errors.update(_too_few_prompts(spec, len(prompts)))
    for path, of in (("prompts", prompts), ("evaluation.prompts", spec.evaluation.prompts)):
        if (problem := picture_problem(of) or negative_prompt_problem(spec.base_model.family, of)) is not None:
            errors[path] = [problem]
    return SpecReport(errors=errors) if errors else SpecReport(spec=spec, prompts=prompts)


def errors_by_path(error: ValidationError) -> Errors:
    """Pydantic's errors under the dotted path of the field at fault, with the value that was given."""
    errors: Errors = {}
    for item in error.errors(include_url=False):
        path = _path(item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        named = _NAMED_FIELD.match(message)
        if item["type"] == "value_error":
            # Pydantic reports cross-field rules at the section; the message names the field to change.
            path = _joined(path, named.group(1)) if named else path
        elif item["type"] == "union_tag_invalid":
            path = f"{path}.{item['ctx']['discriminator'].strip(chr(39))}"
            message = f"`{path}` must be one of {item['ctx']['expected_tags']}, got {item['ctx']['tag']!r}"
        elif isinstance(item["input"], str | int | float | bool) and item["type"] != "missing":
            message = f"`{path}`: {message[0].lower()}{message[1:]}, got {item['input']!r}"
        elif item["type"] == "missing":
            message = f"`{path}` is missing: give it a value"
        errors.setdefault(path or WHOLE_SPEC, []).append(message)
    # For a list whose only items are invalid, pydantic also reports that it is too short, which is redundant.
    short = {_path(e["loc"]) for e in error.errors(include_url=False) if e["type"] == "too_short"}
    return {k: v for k, v in errors.items() if k not in short or not any(o.startswith(f"{k}.") for o in errors)}


def _path(location: tuple[int | str, ...]) -> str:
    """The dotted path. Pydantic puts the algorithm's name before its settings, which the path of a spec does not
    have."""
    if location[:1] == ("algorithm",):
        location = ("algorithm", *location[2:])
    return ".".join(map(str, location))


def _joined(path: str, named: str) -> str:
    """The path of the field that a message at `path` names: by its full path, from its section, or by its own name."""
    if not path or named.partition(".")[0] == path.partition(".")[0]:
        return named
    return path if path.endswith(f".{named}") else f"{path}.{named}"


def _parse(document: Mapping[str, Any] | str | RunSpec) -> RunSpec:
    if isinstance(document, RunSpec):
        return document
    if isinstance(document, str):
        return RunSpec.from_yaml(document)
    return RunSpec.model_validate(document)


def _too_few_prompts(spec: RunSpec, num_prompts: int) -> Errors:
    wanted = spec.batch.num_prompts_per_batch
    if wanted <= num_prompts:
        return {}
    return {
        "batch.num_prompts_per_batch": [
            f"`batch.num_prompts_per_batch` must be ≤ {num_prompts} (the prompts in the set), got {wanted}: "
            "a batch holds each prompt at most once"
        ]
    }


def warnings_of(spec: RunSpec) -> list[str]:
    """Warnings about a valid spec: one if the pool is too small, and one for each role that is predicted not to fit the
    lanes that it would get if all were free. Devices without a known profile are left out."""
    wanted, pool = spec.granted_lanes, pool_devices(spec.lanes.pool)
    mix = gang_alike(pool, wanted.num_trainer, wanted.num_rollout, best_first(spec, pool))
    devices = pool if mix is None else {*mix[0], *mix[1]}
    named = [name for device in devices if (name := profile_name(device)) is not None]
    shortage = lacking(spec.granted_lanes)
    warnings = [f"The run {shortage}: it would wait until lanes join."] if shortage else []
    return warnings + memory_warnings(spec, [ACCELERATORS[name] for name in named])
