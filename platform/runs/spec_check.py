"""Checks a spec as the form and REST send it: errors by field path, or the spec with its resolved prompts.

Invariant: `create_run` uses the same check, so a spec that validates can be created.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from accounts.models import Project
from catalog.base_models import ModelNotUsable, resolve_base_model
from catalog.mirror_places import mirror_problem
from catalog.model_configs import model_problems
from catalog.prompt_pictures import picture_problem
from catalog.scorers import scorer_problems
from catalog.selectors import prompts_of_set
from fleet.selectors import pool_devices
from runs.forks import ForkPoint, fork_problems
from runs.planning.device_order import likely_cards
from runs.pool_check import pool_problems
from runs.wait_reasons import lacking
from worker.contracts.error_sentences import error_sentences
from worker.contracts.families import negative_prompt_problem
from worker.contracts.lora_targets import lora_target_problem
from worker.contracts.names import Tuning
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.setting_names import setting_names
from worker.contracts.spec_yaml import YamlRefused, lines_of, read_yaml
from worker.scheduling.planning.memory_advice import memory_warnings

Errors = dict[str, list[str]]
WHOLE_SPEC = "spec"
"""Path of errors that belong to no single field."""


@dataclass(frozen=True, slots=True)
class SpecReport:
    """The result of a check. `spec` and `prompts` are set exactly if there are no `errors`."""

    errors: Errors = field(default_factory=dict)
    spec: RunSpec | None = None
    prompts: tuple[Prompt, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where the fields at fault are written in the text that was checked, from 1; empty for no text."""
    document: Mapping[str, Any] | None = None
    """What was checked, as a mapping; `None` for a text that is none."""

    @property
    def ok(self) -> bool:
        return not self.errors


def check_spec(
    document: Mapping[str, Any] | str | RunSpec,
    project: Project | None = None,
    *,
    fork: ForkPoint | None = None,
    is_hypothetical: bool = False,
) -> SpecReport:
    """Check a mapping, YAML or JSON text, or a `RunSpec`.

    Without `project`, uploaded prompt sets and shares are not looked up. With `fork`, the settings must fit that
    checkpoint. A hypothetical spec, which is only planned, may ask for more lanes than its pool has.
    """
    try:
        read = read_yaml(document) if isinstance(document, str) else document
        spec = read if isinstance(read, RunSpec) else RunSpec.from_document(read)
    except ValidationError as error:
        return _refused(errors_by_path(error), document, read)
    except YamlRefused as error:
        return SpecReport(errors={WHOLE_SPEC: [str(error)]}, lines={WHOLE_SPEC: error.line})
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
    if spec.tuning is Tuning.LORA:
        problem = lora_target_problem(spec.base_model.family, spec.lora.targets)
        errors.update({"lora.targets": [problem]} if problem else {})
    errors.update({} if fork is None else fork_problems(fork, spec))
    errors.update({path: [problem] for path, problem in scorer_problems(spec, project).items()})
    if (problem := mirror_problem(spec.mirrors, project)) is not None:
        errors["mirrors"] = [problem]
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
    return _refused(errors, document, read) if errors else SpecReport(spec=spec, prompts=prompts)


def _refused(errors: Errors, given: object, read: Any) -> SpecReport:
    """A report with the lines of the errors in a text that was given."""
    lines = lines_of(given, errors) if isinstance(given, str) else {}
    return SpecReport(errors=errors, lines=lines, document=read if isinstance(read, Mapping) else None)


def errors_by_path(error: ValidationError) -> Errors:
    """Pydantic's errors as sentences under the dotted path of the field at fault."""
    return {path or WHOLE_SPEC: texts for path, texts in error_sentences(error, setting_names).items()}


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
    shortage = lacking(spec.granted_lanes)
    warnings = [f"The run {shortage}: it would wait until lanes join."] if shortage else []
    return warnings + memory_warnings(spec, *likely_cards(spec, pool_devices(spec.lanes.pool)))
