"""Values that fit a JSON schema well enough to get past the first look at them, drawn at random."""

import re
from collections.abc import Mapping
from random import Random
from typing import Any

Schema = Mapping[str, Any]
MAX_DEPTH = 12
"""Of schemas within each other, since one may hold itself."""
FORMATS = {"date-time": "2026-01-02T03:04:05Z", "date": "2026-01-02", "uri": "https://a.example/", "decimal": "1.5"}
PATTERNS = ("a" * 64, "0" * 64, "a", "a-1", "lora.safetensors", "1", "a/b", "1.5")
"""One of them fits most patterns."""


class Examples:
    """Draws examples of the schemas of one document, to which their references lead."""

    def __init__(self, document: Schema, known: Mapping[str, Any]) -> None:
        self._document = document
        self._known = known
        """Values that something in the world has, by the name of the field."""

    def of(self, schema: Schema, draw: Random, name: str = "", depth: int = 0) -> Any:
        """An example; `name` is that of the field whose value it is."""
        while "$ref" in schema:
            schema = self._at(schema["$ref"])
        if name in self._known:
            return self._known[name]
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else draw.choice(schema["enum"])
        if choices := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
            return self.of(draw.choice(choices), draw, name, depth + 1)
        if "allOf" in schema:
            parts = [self.of(part, draw, name, depth + 1) for part in schema["allOf"]]
            return {key: value for part in parts for key, value in part.items()} if len(parts) > 1 else parts[0]
        return self._of_type(schema, draw, name, depth)

    def _of_type(self, schema: Schema, draw: Random, name: str, depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match draw.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                return self._object(schema, draw, depth)
            case "array":
                least = schema.get("minItems", 0)
                number = 0 if depth > MAX_DEPTH else max(least, min(schema.get("maxItems", 2), draw.randint(1, 2)))
                items = schema.get("prefixItems") or [schema.get("items", {})] * number
                return [self.of(item, draw, name.removesuffix("s"), depth + 1) for item in items]
            case "integer" | "number" as number_kind:
                low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
                high = min(schema.get("maximum", low + 3), low + 3)
                return draw.randint(int(low), int(high)) if number_kind == "integer" else draw.uniform(low, high)
            case "boolean":
                return draw.random() < 0.5
            case "null":
                return None
        return self._text(schema, draw)

    def _object(self, schema: Schema, draw: Random, depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        made = {
            name: self.of(inner, draw, name, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if name in required or (depth < MAX_DEPTH and draw.random() < 0.7)
        }
        if isinstance(inner := schema.get("additionalProperties"), dict):
            made |= {name: self.of(inner, draw, depth=depth + 1) for name in ("0", "1")}
        return made

    def _text(self, schema: Schema, draw: Random) -> str:
        if schema.get("format") == "uuid":
            return f"{draw.getrandbits(128):032x}"
        if "format" in schema:
            return FORMATS.get(schema["format"], "a")
        if pattern := schema.get("pattern"):
            return next((text for text in PATTERNS if re.search(pattern, text)), "a")
        return draw.choice(["a", "a word", "ünï", "rollout-0"])

    def _at(self, reference: str) -> Schema:
        found: Any = self._document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        return dict(found)
