"""Which fields of several specs differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def spec_differences(specs: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """By dotted path, the value of each spec where not all are equal; None where a spec has no such field."""
    flat = [dict(_leaves(spec)) for spec in specs]
    paths = dict.fromkeys(path for leaves in flat for path in leaves)
    rows = {path: [leaves.get(path) for leaves in flat] for path in paths}
    return {path: values for path, values in rows.items() if any(value != values[0] for value in values)}


def _leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, node
