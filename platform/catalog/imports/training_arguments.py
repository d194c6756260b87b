"""Reads the arguments of a training script: from the command that started it, or from the YAML or JSON in which
accelerate's trackers keep them (`hparams.yml`).

    export MODEL_NAME="black-forest-labs/FLUX.1-dev"
    accelerate launch train_dreambooth_lora_flux.py \\         ─►   {"pretrained_model_name_or_path": "black-forest…",
      --pretrained_model_name_or_path=$MODEL_NAME --rank=16          "rank": 16, …}, "train_dreambooth_lora_flux.py"

Nothing is executed: of a shell only words, quotes and variables that the text itself sets are understood.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catalog.imports.imported import MAX_CHARACTERS, ImportRefused
from worker.contracts.spec_yaml import YamlRefused, read_yaml

_ARGUMENT = re.compile(r"--([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_HAS_ARGUMENTS = re.compile(r"(^|\s)--[A-Za-z]")
_IS_MAPPING = re.compile(r"\s*(\{|[\"\w]+\s*:)")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
MAX_VARIABLE = 400
"""Characters of a variable's value, a name or a folder: some lines of variables in each other would fill the memory."""
_CONSTANTS = {"true": True, "false": False, "none": None, "null": None}


def read_arguments(text: str) -> tuple[dict[str, Any], str]:
    """The arguments by name, and the script's; empty where the text names none. Raises `ImportRefused`."""
    if len(text) > MAX_CHARACTERS:
        raise ImportRefused(f"the text must have ≤ {MAX_CHARACTERS} characters, got {len(text)}")
    if _is_command(text):
        return _of_command(text)
    try:
        read = read_yaml(text)
    except YamlRefused as error:
        raise ImportRefused(f"line {error.line}: {error}" if error.line else str(error)) from error
    except ValueError as error:
        raise ImportRefused(str(error)) from error
    if not isinstance(read, Mapping):
        raise ImportRefused("this is neither a command with --arguments nor a mapping of them")
    return {str(name): _typed(value) if isinstance(value, str) else value for name, value in read.items()}, ""


def looks_like_arguments(text: str) -> bool:
    """Whether it has --arguments, or begins as a mapping of them does."""
    return _HAS_ARGUMENTS.search(text) is not None or _IS_MAPPING.match(text) is not None


def _is_command(text: str) -> bool:
    """Whether it has --arguments, and does not begin as a mapping does."""
    return _HAS_ARGUMENTS.search(text) is not None and not _IS_MAPPING.match(text)


def _of_command(text: str) -> tuple[dict[str, Any], str]:
    try:
        words = shlex.split(re.sub(r"\\\r?\n", " ", text), comments=True)
    except ValueError as error:
        raise ImportRefused(f"this is no command that can be read: {error}") from error
    words, script = list(_with_variables(words)), ""
    if scripts := [place for place, word in enumerate(words) if word.endswith(".py")]:
        script = words[scripts[-1]]
        words = words[scripts[-1] + 1 :]
    return _arguments(words), script.rpartition("/")[2]


def _with_variables(words: Sequence[str]) -> Iterator[str]:
    """The words with the variables that the text has set before; unknown ones stay as they are written."""
    variables: dict[str, str] = {}
    for word in words:
        put = _VARIABLE.sub(lambda found: variables.get(found[1] or found[2], found[0]), word)
        if (assigned := _ASSIGNMENT.fullmatch(put)) is not None:
            variables[assigned[1]] = assigned[2][:MAX_VARIABLE]
        yield put


def _arguments(words: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    name = ""
    for word in words:
        if (match := _ARGUMENT.fullmatch(word)) is not None:
            name = match[1].replace("-", "_")
            found[name] = True if match[2] is None else _typed(match[2])
        elif name and found[name] is True:
            found[name] = _typed(word)
        elif name:
            before = found[name]
            found[name] = [*(before if isinstance(before, list) else [before]), _typed(word)]
    return found


def _typed(word: str) -> Any:
    """A number, a truth value or nothing, where the word is one."""
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    if not _NUMBER.fullmatch(word):
        return word
    return int(word) if re.fullmatch(r"[-+]?\d{1,18}", word) else float(word)
