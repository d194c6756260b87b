"""Writes to prompt sets and secrets."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import TO_MANAGE_SECRETS, TO_UPLOAD_PROMPTS, require_role
from accounts.encryption import encrypt
from accounts.models import Project, User
from audit.record import record
from catalog.checked_prompts import PromptsRefused, check_prompts
from catalog.models import PromptSet, Secret
from catalog.prompt_pictures import picture_problem
from worker.contracts.prompts import Prompt, dump_prompts


def create_prompt_set(*, user: User, project: Project, name: str, prompts: Sequence[Any]) -> PromptSet:
    """A prompt set from a list of texts and objects. Raises `ValidationError` with the field at fault."""
    require_role(user, project, TO_UPLOAD_PROMPTS)
    try:
        checked = check_prompts(prompts)
        _check_pictures(checked)
    except PromptsRefused as error:
        raise ValidationError({"prompts": str(error)}) from error
    return _create(user, project, name, checked)


@transaction.atomic
def delete_prompt_set(*, user: User, prompt_set: PromptSet) -> None:
    """Delete the set. Runs keep a copy of their prompts, so none of them is affected."""
    require_role(user, prompt_set.project, TO_UPLOAD_PROMPTS)
    record("prompt_set.delete", prompt_set, user=user, project_id=prompt_set.project_id)
    prompt_set.delete()


@transaction.atomic
def _create(user: User, project: Project, name: str, prompts: list[Prompt]) -> PromptSet:
    prompt_set = PromptSet(project=project, name=name.strip(), prompts=dump_prompts(prompts), created_by=user)
    prompt_set.full_clean()
    prompt_set.save()
    record("prompt_set.create", prompt_set, user=user, project_id=project.pk, num_prompts=len(prompts))
    return prompt_set


def _check_pictures(prompts: Sequence[Prompt]) -> None:
    if (problem := picture_problem(prompts)) is not None:
        raise PromptsRefused(problem)


@transaction.atomic
def create_secret(*, user: User, project: Project, name: str, host: str, value: str) -> Secret:
    """Store a token, encrypted. It is never shown again. Raises `ValidationError` with the field at fault."""
    require_role(user, project, TO_MANAGE_SECRETS)
    secret = Secret(project=project, name=name.strip(), host=host.strip(), encrypted=encrypt(value), created_by=user)
    secret.full_clean()
    secret.save()
    record("secret.create", secret, user=user, project_id=project.pk, host=secret.host)
    return secret


@transaction.atomic
def delete_secret(*, user: User, secret: Secret) -> None:
    """Delete the secret. Runs that use it fail at their next start, with that reason."""
    require_role(user, secret.project, TO_MANAGE_SECRETS)
    record("secret.delete", secret, user=user, project_id=secret.project_id, host=secret.host)
    secret.delete()
