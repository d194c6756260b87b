"""Where a mirror of each kind may write, and the package that it needs; nothing is connected to here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings

from accounts.models import Project
from catalog.models import Mirror, MirrorKind
from worker.outbound.outbound_guard import url_problem

SETTING = "TANDEM_MIRROR_HOSTS"
HOW_TO_INSTALL = "pip install --no-deps --require-hashes -r deploy/requirements/mirrors.lock"
_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_FOLDER = (re.compile(_SEGMENT), "a folder's name of letters, digits, `.`, `_` and `-`")


@dataclass(frozen=True, slots=True)
class KindOfPlace:
    package: str
    """What is imported to write there."""
    place: re.Pattern[str]
    place_words: str
    default_address: str | None = None
    """Where it is reached unless another address is given; `None` for folders, which have none."""


PLACES = {
    MirrorKind.WANDB: KindOfPlace(
        package="wandb",
        place=re.compile(rf"({_SEGMENT}/)?{_SEGMENT}"),
        place_words="`project` or `entity/project`",
        default_address="https://api.wandb.ai",
    ),
    MirrorKind.WANDB_OFFLINE: KindOfPlace("wandb", *_FOLDER),
    MirrorKind.MLFLOW: KindOfPlace(
        package="mlflow",
        place=re.compile(r"[^\x00-\x1f\x7f]+"),
        place_words="an experiment's name on one line",
        default_address="",
    ),
    MirrorKind.TENSORBOARD: KindOfPlace("tensorboard", *_FOLDER),
}


def place_problems(mirror: Mirror) -> dict[str, str]:
    """What is wrong with where it writes, by field."""
    kind = PLACES[MirrorKind(mirror.kind)]
    problems = {}
    if find_spec(kind.package) is None:
        problems["kind"] = (
            f"`kind` {mirror.kind} needs the package {kind.package}, which this installation lacks: an administrator "
            f"can add it with `{HOW_TO_INSTALL}`"
        )
    if not kind.place.fullmatch(mirror.place):
        problems["place"] = f"`place` must be {kind.place_words}, got {mirror.place[:80]!r}"
    if kind.default_address is None:
        if mirror.address:
            problems["address"] = f"`address` must be empty for {mirror.kind}, which writes to a folder"
        if mirror.encrypted:
            problems["credential"] = f"`credential` must be empty for {mirror.kind}, which writes to a folder"
    elif problem := url_problem(mirror.address, allowed_hosts=settings.TANDEM_MIRROR_HOSTS, setting=SETTING):
        problems["address"] = f"`address` {problem}"
    return problems


def mirror_problem(names: Sequence[str], project: Project | None) -> str | None:
    """Why a run of the project cannot have these mirrors; `None` if it can, and without a project."""
    if project is None or not names:
        return None
    own = list(Mirror.objects.filter(project=project).values_list("name", flat=True))
    unknown = [name for name in names if name not in own]
    if not unknown:
        return None
    known = ", ".join(f"`{name}`" for name in own) or "none yet"
    return f"`mirrors` must name mirrors of {project.name}, got `{unknown[0]}`: there is {known}"


def mirror_folder(mirror: Mirror) -> Path | None:
    """The folder of a mirror that writes to one. Its project's name comes first, so that no two projects share one."""
    if PLACES[MirrorKind(mirror.kind)].default_address is not None:
        return None
    top = "wandb" if mirror.kind == MirrorKind.WANDB_OFFLINE else mirror.kind
    return Path(settings.TANDEM_VAR) / top / mirror.project.slug / mirror.place
