"""Whose configuration a text is, where nobody says it."""

import re

from catalog.imports.training_arguments import looks_like_arguments

FLOW_GRPO, DIFFUSERS = IMPORT_KINDS = ("flow_grpo", "diffusers")
_PYTHON = re.compile(r"^(def|import|from)\s+\w", re.MULTILINE)
"""A line of a Python file that no command and no YAML has."""


def guessed_kind(text: str) -> str | None:
    """One of `IMPORT_KINDS`; None where the text is clearly neither."""
    if _PYTHON.search(text):
        return FLOW_GRPO
    return DIFFUSERS if looks_like_arguments(text) else None
