"""The file that says which roles the groups of the provider give. Without models, for the settings' check."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError


class GroupRolesInvalid(ValueError):
    """The file of `TANDEM_OIDC_GROUP_ROLES` cannot be read."""


class GroupRoles(BaseModel):
    """The file: names of groups by what they give."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    admins: frozenset[str] = frozenset()
    """Administer the installation."""
    pool_admins: frozenset[str] = frozenset()
    projects: Mapping[str, Mapping[Literal["viewer", "editor", "owner"], frozenset[str]]] = Field(default_factory=dict)
    """By the project's slug."""

    def rights(self, groups: frozenset[str]) -> set[str]:
        """Values of `accounts.models.MappedRight`."""
        given = {"admin": self.admins, "pool_admin": self.pool_admins}
        return {right for right, names in given.items() if names & groups}

    def roles(self, groups: frozenset[str]) -> dict[str, list[str]]:
        """Every role that the groups give in each project, by its slug; no project without one."""
        held = {slug: [role for role, names in by.items() if names & groups] for slug, by in self.projects.items()}
        return {slug: list(roles) for slug, roles in held.items() if roles}


def read_group_roles(path: str) -> GroupRoles:
    """The file's content; without a file groups give nothing. Raises `GroupRolesInvalid`."""
    if not path:
        return GroupRoles()
    try:
        return GroupRoles.model_validate(yaml.safe_load(Path(path).read_text()) or {})
    except (OSError, yaml.YAMLError) as error:
        raise GroupRolesInvalid(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise GroupRolesInvalid(f"{path}: `{'.'.join(map(str, first['loc']))}`: {first['msg']}") from error
