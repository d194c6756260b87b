"""Reads a Python file of configurations, as ml_collections' users write them, without running it.

    def base_recipe():                       the functions of the file, assignments to `config.a.b`,
        config = base.get_config()           arithmetic on numbers, text, lists and dicts are read;
        config.sample.num_steps = 10    ─►   whatever else a value depends on makes it `Unknown`
        return config

Nothing of the file is executed: only what is listed here is understood.
"""

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.imports.imported import MAX_CHARACTERS, ImportRefused

MAX_CALLS = 50
"""Functions that call each other: recipes build on one or two others."""
MAX_NUMBER = 1e18
"""No setting is larger, and a few products of larger ones would fill the memory."""
MAX_TEXT = 2000
"""Characters of a text that is put together."""
_NUMBERS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
"""No powers: a short line of them is a number that fills the memory."""
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {"int": int, "float": float, "str": str, "bool": bool}


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that depends on what is not understood."""

    text: str
    """As the file writes it."""

    def __str__(self) -> str:
        return self.text


def function_names(source: str) -> list[str]:
    """The configurations that the file has. Raises `ImportRefused` for what is no Python."""
    return list(_functions(source))


def read_configuration(
    source: str, function: str, base: Mapping[str, Any], *, whole: Collection[str] = ()
) -> dict[str, Any]:
    """The settings that a function of the file returns, by dotted name; `base` are those of the file that it begins
    from. Dicts are sections, but for those of the names `whole`, which are settings. Local variables of the function
    itself come with them, named `<local>.name`.

    Raises `ImportRefused` for what is no Python, and for a function that the file has not.
    """
    functions = _functions(source)
    if function not in functions:
        raise ImportRefused(f"the file has no configuration `{function}`; it has {', '.join(functions) or 'none'}")
    reader = _Reader(functions, _nested(base))
    try:
        config = reader.call(function)
    except RecursionError as error:
        raise ImportRefused(f"`{function}` nests expressions too deeply to be read") from error
    variables = {f"<local>.{name}": value for name, value in reader.variables.items() if not isinstance(value, dict)}
    return {**_flat(config, whole), **variables}


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    if len(source) > MAX_CHARACTERS:
        raise ImportRefused(f"the file must have ≤ {MAX_CHARACTERS} characters, got {len(source)}")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        raise ImportRefused(f"{line}this is no Python that can be read: {error}") from error
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.args.args}


class _Reader:
    """Reads functions statement by statement."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef], base: dict[str, Any]) -> None:
        self._functions, self._base, self._num_calls = functions, base, 0
        self.variables: dict[str, Any] = {}
        """Of the function that returned last, which is the outermost."""

    def call(self, name: str) -> Any:
        self._num_calls += 1
        if self._num_calls > MAX_CALLS:
            raise ImportRefused(f"`{name}` calls others in a circle, or more than {MAX_CALLS} of them")
        variables: dict[str, Any] = {}
        for statement in self._functions[name].body:
            if isinstance(statement, ast.Assign):
                value = self._value(statement.value, variables)
                for target in statement.targets:
                    self._assign(target, value, variables)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                returned = self._value(statement.value, variables)
                self.variables = variables
                if isinstance(returned, dict):
                    return returned
                break
            elif isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
                raise ImportRefused(f"line {statement.lineno}: a configuration with branches or loops is not read")
        raise ImportRefused(f"`{name}` returns no configuration")

    def _assign(self, target: ast.expr, value: Any, variables: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            variables[target.id] = value
        elif isinstance(target, ast.Attribute) and (place := self._section(target.value, variables)) is not None:
            place[target.attr] = value

    def _section(self, node: ast.expr, variables: Mapping[str, Any]) -> dict[str, Any] | None:
        """The part of a configuration that settings are written to; made where it is not there."""
        if isinstance(node, ast.Attribute):
            above = self._section(node.value, variables)
            place = None if above is None else above.setdefault(node.attr, {})
        else:
            place = self._value(node, variables)
        return place if isinstance(place, dict) else None

    def _value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        try:
            return self._known(node, variables)
        except ImportRefused:
            raise
        except (_NotUnderstood, ArithmeticError, TypeError, ValueError):
            return Unknown(ast.unparse(node)[:MAX_TEXT])

    def _known(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name() if node.id in variables:
                return variables[node.id]
            case ast.Attribute():
                place = self._known(node.value, variables)
                if isinstance(place, dict) and node.attr in place:
                    return place[node.attr]
            case ast.List() | ast.Tuple():
                return [self._value(each, variables) for each in node.elts]
            case ast.Dict() if all(isinstance(key, ast.Constant) for key in node.keys):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                return {str(key): self._value(each, variables) for key, each in zip(keys, node.values, strict=True)}
            case ast.UnaryOp(op=ast.USub()):
                return -self._number(node.operand, variables)
            case ast.BinOp() if type(node.op) in _NUMBERS:
                left, right = self._number(node.left, variables), self._number(node.right, variables)
                return _NUMBERS[type(node.op)](left, right)
            case ast.IfExp():
                return self._known(node.body if self._known(node.test, variables) else node.orelse, variables)
            case ast.Compare() if len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
                left, right = self._number(node.left, variables), self._number(node.comparators[0], variables)
                return _COMPARISONS[type(node.ops[0])](left, right)
            case ast.JoinedStr():
                return "".join(self._text(part, variables) for part in node.values)[:MAX_TEXT]
            case ast.Call():
                return self._called(node, variables)
        raise _NotUnderstood

    def _number(self, node: ast.expr, variables: Mapping[str, Any]) -> int | float:
        value = self._known(node, variables)
        if not isinstance(value, int | float) or abs(value) > MAX_NUMBER:
            raise _NotUnderstood
        return value

    def _text(self, node: ast.expr, variables: Mapping[str, Any]) -> str:
        value = self._known(node.value if isinstance(node, ast.FormattedValue) else node, variables)
        if not isinstance(value, str | int | float):
            raise _NotUnderstood
        return str(value)

    def _called(self, node: ast.Call, variables: Mapping[str, Any]) -> Any:
        name = ast.unparse(node.func)
        if name == "base.get_config":
            return _copied(self._base)
        if name == "ml_collections.ConfigDict":
            return self._value(node.args[0], variables) if node.args else {}
        if name == "os.getcwd":
            return "."
        if name == "os.path.join":
            return "/".join(self._text(each, variables) for each in node.args)[:MAX_TEXT]
        if name in _CONVERSIONS and len(node.args) == 1:
            return _CONVERSIONS[name](self._known(node.args[0], variables))
        if name in self._functions and not node.args:
            return self.call(name)
        raise _NotUnderstood


class _NotUnderstood(Exception):
    pass


def _copied(config: dict[str, Any]) -> dict[str, Any]:
    return {name: _copied(value) if isinstance(value, dict) else value for name, value in config.items()}


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        *sections, last = name.split(".")
        place = nested
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    return nested


def _flat(config: Mapping[str, Any], whole: Collection[str], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, dict) and f"{prefix}{name}" not in whole:
            flat |= _flat(value, whole, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
