"""The recipes as their readers see them: the fenced blocks of a page, and how each is pasted.

```sh                       pasted into a shell
```python                   pasted into Python
```python title="my_a.py"   kept as that file, of any language
```sh title="settings"      what readers fill in; a test gives values of its own to the same names
```text                     shown, not pasted
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

RECIPES = Path(__file__).resolve().parents[3] / "deploy" / "docs" / "recipes"
SETTINGS = "settings"
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SETTING = re.compile(r"^export (\w+)=", re.MULTILINE)
_FILLED_IN = re.compile(r"\$\{\{ (.+?) \}\}")


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A recipe."""

    blocks: tuple[Block, ...]

    @property
    def pasted(self) -> list[Block]:
        """What goes into a shell or into Python, in the order of the page."""
        return [block for block in self.blocks if block.language in ("sh", "python") and not block.title]

    @property
    def files(self) -> dict[str, str]:
        return {block.title: block.text for block in self.blocks if block.title not in ("", SETTINGS)}

    @property
    def settings(self) -> set[str]:
        """The names that readers fill in."""
        return {name for block in self.blocks if block.title == SETTINGS for name in _SETTING.findall(block.text)}


def read_page(name: str) -> Page:
    """The recipe of that name."""
    return Page(tuple(Block(*found) for found in _BLOCK.findall((RECIPES / f"{name}.md").read_text())))


def workflow_job(workflow: str, known: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The variables of a workflow's job `train`, with `known` for what GitHub fills in, and the commands of its named
    steps."""
    job = yaml.safe_load(workflow)["jobs"]["train"]
    filled = {name: _FILLED_IN.sub(lambda at: known[at[1]], text) for name, text in job["env"].items()}
    return filled, {step["name"]: step["run"] for step in job["steps"] if "name" in step}
