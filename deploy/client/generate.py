"""Writes what of the client is not written by hand: the models of REST, from the committed schema, and the synchronous
client, from the asynchronous one. `make contract` runs it and compares.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).parent
SCHEMA = CLIENT.parents[1] / "frontend" / "openapi.json"
MODELS = CLIENT / "tandem" / "rest_models.py"
ASYNCHRONOUS, SYNCHRONOUS = CLIENT / "tandem" / "asynchronous", CLIENT / "tandem" / "synchronous"
ANSWERS = (
    "AdapterPage",
    "CreatedToken",
    "Curves",
    "ImportedSpec",
    "ListedPromptSet",
    "ListedRun",
    "ListedSweep",
    "LogEntry",
    "Me",
    "Operation",
    "MirroredRun",
    "PlanPreview",
    "PoolNode",
    "Project",
    "PromptSet",
    "QueuedRun",
    "Reward",
    "Run",
    "RunSize",
    "Samples",
    "SavedCheckpoint",
    "Sweep",
    "SweepPreview",
    "TimelineSpan",
    "Token",
    "UsageRow",
    "Validation",
)
"""The schemas that the client reads. Only these and what they refer to become models, so that the import stays quick:
all of the schema's take a second."""
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
MAX_LINE = 110
"""Characters of a docstring that has room beside its quotes, four spaces in, within 120."""
HEADER = "The answers of REST v1. Written by `generate.py` from `openapi.json`."
REFERENCE = "#/components/schemas/"
_PLAIN = {"type": "object", "additionalProperties": True}
OPEN = {REFERENCE + "RunSpec": _PLAIN, REFERENCE + "SweepPlan": _PLAIN}
"""Read as plain values: they are there to be changed and sent again, whatever fields their server's release has."""
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "maxItems"}
"""What a server checks and a reader must not."""
OF_ASYNCHRONOUS = {
    "async def": "def",
    "async with": "with",
    "async for": "for",
    "await ": "",
    "AsyncIterator": "Iterator",
    "AsyncClient": "Client",
    "AsyncBaseTransport": "BaseTransport",
    "tandem.asynchronous": "tandem.synchronous",
    "from asyncio": "from time",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aiter_bytes": "iter_bytes",
    "aclose": "close",
    "aread": "read",
}
"""What each word of asynchronous code is in synchronous code."""


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
    waiting = set(ANSWERS)
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


def write_models() -> None:
    """Readers that tolerate: what a newer server adds is kept, names of a choice too; what it leaves out of an answer
    is an error."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "schema.json"
        source.write_text(json.dumps(pruned(json.loads(SCHEMA.read_text()))))
        subprocess.run(
            [
                *(str(Path(sys.executable).parent / "datamodel-codegen"), "--input", str(source)),
                *("--input-file-type", "openapi", "--output", str(MODELS), "--target-python-version", "3.10"),
                *("--output-model-type", "pydantic_v2.BaseModel", "--base-class", "tandem.tolerant_model.Model"),
                *("--enum-field-as-literal", "all", "--collapse-root-models"),
                *("--use-union-operator", "--use-standard-collections", "--use-annotated", "--disable-timestamp"),
                *("--use-schema-description", "--use-field-description", "--disable-warnings"),
                *("--custom-file-header", f'"""{HEADER}"""'),
            ],
            check=True,
        )
    MODELS.write_text(DOCSTRING.sub(lambda match: on_one_line(match[0]), MODELS.read_text()))


def on_one_line(docstring: str) -> str:
    """A docstring of one line with its quotes beside it; any other as it is."""
    text = docstring[3:-3].strip()
    has_room = "\n" not in text and len(text) <= MAX_LINE and not text.endswith('"')
    return f'"""{text}"""' if has_room else docstring


def write_synchronous() -> None:
    """The modules of `asynchronous` without `async`, `await` and asyncio."""
    for old in SYNCHRONOUS.glob("*.py"):
        old.unlink()
    words = re.compile("|".join(rf"\b{re.escape(word)}" for word in OF_ASYNCHRONOUS))
    for source in sorted(ASYNCHRONOUS.glob("*.py")):
        text = words.sub(lambda match: OF_ASYNCHRONOUS[match[0]], source.read_text())
        header = f"# Written by `generate.py` from `asynchronous/{source.name}`.\n"
        (SYNCHRONOUS / source.name).write_text(header + text)


if __name__ == "__main__":
    write_models()
    write_synchronous()
