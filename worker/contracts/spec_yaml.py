"""YAML as people write it in a spec: safe to read, and with the line of whatever is wrong.

    text ─► events: size, depth, no aliases ─► nodes, whose lines are known ─► plain values

Invariant: no text makes reading take more memory or time than in proportion to its length, and whatever is wrong is a
`YamlRefused` with its line and column.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import yaml

from worker.contracts.plain_json import MAX_DEPTH
from worker.contracts.shown_values import cut

MAX_YAML_CHARACTERS = 4 * 2**20
"""Of a spec: as many prompts as one may hold, each of the greatest length, in ASCII."""

_REFUSED = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Anything but the printable characters of YAML 1.1, section 4.1."""
_WORDS = {
    "did not find expected node content": "a value is missing, or a bracket is not closed",
    "mapping values are not allowed": "a `:` stands where no setting can begin: indent alike, or quote the text",
    "could not find expected ':'": "a `:` is missing after the name of a setting",
    "found character that cannot start any token": "this character cannot begin a value: quote it; indent with spaces",
    "but found another document": "a spec is one document: remove the `---` before the second",
}
"""Problems of libyaml that a user meets, by their beginning, in words that say what to do."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlRefused(ValueError):
    """A text that is no YAML, or none that is read."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"the YAML is refused at line {line}, column {column}: {problem}")
        self.line = line
        """From 1."""


_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map"))
"""Those of the values that JSON has."""
_TIME = "tag:yaml.org,2002:timestamp"


class _SpecLoader(_Loader):
    """Reads what JSON has, and dates as texts. Refuses names that are given twice, and says where a value does not fit
    its tag."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag == _TIME:
            return node.value
        if node.tag not in _TAGS:
            raise yaml.constructor.ConstructorError(None, None, "this tag is not read: remove it", node.start_mark)
        try:
            return super().construct_object(node, deep=deep)
        except yaml.YAMLError:
            raise
        except Exception as error:  # whatever int(), float() and the like raise for `!!int ""` and its kin
            kind = node.tag.rpartition(":")[2]
            problem = f"{cut(str(node.value))!r} cannot be read as `{kind}`: write it in quotes, or correct it"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    problem = f"`{cut(key.value)}` is given twice: keep one of them"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
        made: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return made


def write_yaml(document: Mapping[str, Any]) -> str:
    """A document as YAML, its settings in the order in which it has them."""
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return text


def read_yaml(text: str) -> Any:
    """The value of a YAML or JSON text, of what JSON has. Raises `YamlRefused`."""
    if len(text) > MAX_YAML_CHARACTERS:
        problem = f"it must be ≤ {MAX_YAML_CHARACTERS} characters, got {len(text)}: put the prompts into a prompt set"
        raise YamlRefused(problem, 1, 1)
    try:
        _check_characters(text)
        _check_events(text)
        return yaml.load(text, Loader=_SpecLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = error.problem or error.context or "it cannot be read"
        words = next((words for problem, words in _WORDS.items() if said.startswith(problem)), said)
        raise YamlRefused(words, mark.line + 1 if mark else 1, mark.column + 1 if mark else 1) from error


def lines_of(text: str, paths: Iterable[str]) -> dict[str, int]:
    """The line, from 1, of each dotted path in a text that `read_yaml` reads: of the nearest that is written, where the
    path itself is not. Paths of which nothing is written are left out."""
    root = yaml.compose(text, Loader=_SpecLoader)
    found = {path: _line_of(root, path.split(".")) for path in paths if path}
    return {path: line for path, line in found.items() if line is not None}


def _line_of(node: yaml.Node | None, names: list[str]) -> int | None:
    line: int | None = None
    for name in names:
        match node:
            case yaml.MappingNode():
                pair = next(((key, value) for key, value in node.value if key.value == name), None)
                if pair is None:
                    return line
                line, node = pair[0].start_mark.line + 1, pair[1]
            case yaml.SequenceNode() if name.isdecimal() and int(name) < len(node.value):
                node = node.value[int(name)]
                line = node.start_mark.line + 1
            case _:
                return line
    return line


def _check_characters(text: str) -> None:
    """YAML has no control characters but tabs and line breaks."""
    if (found := _REFUSED.search(text)) is not None:
        before = text[: found.start()]
        problem = f"the character U+{ord(found.group()):04X} is not allowed: remove it"
        raise YamlRefused(problem, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _check_events(text: str) -> None:
    """Without recursion and before anything is built: a few lines of aliases can stand for terabytes."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        match event:
            case yaml.AliasEvent():
                raise _refused_at(event, f"the alias `*{cut(event.anchor or '')}` is not read: write the value out")
            case yaml.CollectionStartEvent():
                depth += 1
                if depth > MAX_DEPTH:
                    problem = f"lists and mappings must be nested ≤ {MAX_DEPTH} deep, got more: flatten them"
                    raise _refused_at(event, problem)
            case yaml.CollectionEndEvent():
                depth -= 1


def _refused_at(event: yaml.Event, problem: str) -> YamlRefused:
    mark = event.start_mark
    return YamlRefused(problem, mark.line + 1 if mark else 1, mark.column + 1 if mark else 1)
