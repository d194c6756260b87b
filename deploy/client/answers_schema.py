"""The part of the schema that the client reads."""

from typing import Any

ANSWERS = {
    "run_models": ("Run", "ListedRun", "Validation"),
    "telemetry_models": (
        "AdapterPage",
        "Curves",
        "LogEntry",
        "MirroredRun",
        "Samples",
        "SavedCheckpoint",
        "TimelineSpan",
    ),
    "planning_models": ("ImportedSpec", "PlanPreview", "QueuedRun", "RunSize"),
    "sweep_models": ("ListedSweep", "Sweep", "SweepPreview"),
    "pool_models": ("PoolNode", "UsageRow"),
    "retention_models": ("DeletionPreview", "Retention"),
    "project_models": ("CreatedToken", "ListedPromptSet", "Me", "Operation", "Project", "PromptSet", "Reward", "Token"),
}
"""The schemas that the client reads, by the module that they are written to. Only these and what they refer to become
models, so that the import stays quick: all of the schema's take a second."""
REFERENCE = "#/components/schemas/"
_PLAIN = {"type": "object", "additionalProperties": True}
OPEN = {REFERENCE + "RunSpec": _PLAIN, REFERENCE + "SweepPlan": _PLAIN}
"""Read as plain values: they are there to be changed and sent again, whatever fields their server's release has."""
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "maxItems"}
"""What a server checks and a reader must not."""


def references(node: Any) -> set[str]:
    """The names of the schemas that `node` refers to."""
    if isinstance(node, list):
        return {name for item in node for name in references(item)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"].removeprefix(REFERENCE)} if "$ref" in node else set()
    return own.union(*(references(value) for value in node.values()))


def readable(node: Any) -> Any:
    """`node` without `BOUNDS`, with what is `OPEN` in place of the reference to it, and with room for fields and names
    that a newer server adds."""
    if isinstance(node, list):
        return [readable(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("$ref") in OPEN:
        return OPEN[node["$ref"]]
    if node.get("type") == "string" and isinstance(node.get("enum"), list):
        return {"anyOf": [node, {"type": "string"}]}
    # A property may have the name of a bound; its value is then a schema.
    is_closed = node.get("additionalProperties") is False
    return {
        key: readable(value)
        for key, value in node.items()
        if (key not in BOUNDS or isinstance(value, dict)) and not (key == "additionalProperties" and is_closed)
    }


def pruned(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the schemas of `ANSWERS` and those they refer to, and nothing else."""
    schemas = readable(document["components"]["schemas"])
    kept: set[str] = set()
    waiting = {name for answers in ANSWERS.values() for name in answers}
    while waiting:
        name = waiting.pop()
        kept.add(name)
        waiting |= references(schemas[name]) - kept
    return {
        "openapi": document["openapi"],
        "info": document["info"],
        "paths": {},
        "components": {"schemas": {name: schemas[name] for name in sorted(kept)}},
    }
