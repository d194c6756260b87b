"""The names by which specs choose mirrors of their project."""

from typing import Annotated

from pydantic import Field

MIRROR_NAME = r"^[a-z0-9][a-z0-9_-]*$"
MirrorName = Annotated[str, Field(pattern=MIRROR_NAME, max_length=64)]
MAX_MIRRORS = 8
"""Of a run: more than there are kinds of them; each costs a process of its own once a minute."""
