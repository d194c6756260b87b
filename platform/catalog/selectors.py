"""Reads of prompt sets, secrets and mirrors, for those who may see them; base models and presets are for everybody."""

from functools import lru_cache
from uuid import UUID

from django.db.models import F, Func, IntegerField, JSONField, QuerySet

from accounts.access import Actor, NotVisible, visible_projects
from accounts.models import Project
from catalog.base_models import BaseModelEntry, list_base_models
from catalog.models import Mirror, PromptSet, Secret
from catalog.presets import Preset, get_preset, list_presets
from worker.contracts.prompts import Prompt, parse_prompts

__all__ = [
    "BaseModelEntry",
    "Preset",
    "get_mirror",
    "get_preset",
    "get_prompt_set",
    "get_secret",
    "list_base_models",
    "list_presets",
    "listed_prompt_sets",
    "prompts_of_set",
    "visible_mirrors",
    "visible_prompt_sets",
    "visible_secrets",
]


def visible_prompt_sets(user: Actor) -> QuerySet[PromptSet]:
    return PromptSet.objects.filter(project__in=visible_projects(user)).select_related("project")


def listed_prompt_sets(user: Actor) -> QuerySet[PromptSet]:
    """Those of `visible_prompt_sets` with `size`, the number of prompts, and `first_prompts`, but without the prompts,
    which may be megabytes."""
    first_three = "jsonb_path_query_array(%(expressions)s, '$[0 to 2]')"
    return (
        visible_prompt_sets(user)
        .defer("prompts")
        .annotate(
            size=Func(F("prompts"), function="jsonb_array_length", output_field=IntegerField()),
            first_prompts=Func(F("prompts"), template=first_three, output_field=JSONField()),
        )
    )


def get_prompt_set(user: Actor, prompt_set_id: UUID | str) -> PromptSet:
    """The prompt set of that id. Raises `NotVisible` for outsiders and for unknown ids."""
    try:
        return visible_prompt_sets(user).get(pk=UUID(str(prompt_set_id)))
    except (PromptSet.DoesNotExist, ValueError) as error:
        raise NotVisible("no such prompt set") from error


def prompts_of_set(project: Project, prompt_set_id: str) -> tuple[Prompt, ...]:
    """The prompts of one of the project's own sets. Raises `LookupError` that lists the project's sets."""
    own = PromptSet.objects.filter(project=project).only("name")
    try:
        return _parsed(own.get(pk=UUID(prompt_set_id)).pk)
    except (PromptSet.DoesNotExist, ValueError) as error:
        names = ", ".join(f"{item.name} ({item.pk})" for item in own) or "none yet"
        raise LookupError(
            f"`prompts.prompt_set` `{prompt_set_id}` is no prompt set of {project.name}: choose one of {names}"
        ) from error


@lru_cache(maxsize=2)
def _parsed(prompt_set: UUID) -> tuple[Prompt, ...]:
    """Kept, because a form asks for the same prompts with each change of a spec, and a set never changes. Few, because
    one may be a hundred thousand prompts."""
    return parse_prompts(PromptSet.objects.values_list("prompts", flat=True).get(pk=prompt_set))


def visible_secrets(user: Actor) -> QuerySet[Secret]:
    """The secrets of the user's projects, for their names and hosts; only `catalog.scorers` decrypts them."""
    return Secret.objects.filter(project__in=visible_projects(user)).select_related("project").defer("encrypted")


def get_secret(user: Actor, secret_id: UUID | str) -> Secret:
    """Raises `NotVisible` for outsiders and for ids that name nothing."""
    try:
        return visible_secrets(user).get(pk=UUID(str(secret_id)))
    except (Secret.DoesNotExist, ValueError) as error:
        raise NotVisible("no such secret") from error


def visible_mirrors(user: Actor) -> QuerySet[Mirror]:
    """Those of the user's projects; nothing reads their credentials but `mirrors.sessions`."""
    return Mirror.objects.filter(project__in=visible_projects(user)).select_related("project").defer("encrypted")


def get_mirror(user: Actor, mirror_id: UUID) -> Mirror:
    """Raises `NotVisible`."""
    mirror = Mirror.objects.filter(project__in=visible_projects(user), pk=mirror_id).select_related("project").first()
    if mirror is None:
        raise NotVisible("no such mirror")
    return mirror
