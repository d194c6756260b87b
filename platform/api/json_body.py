"""The parser of JSON bodies: what it lets through can be stored and walked, and is of bounded size."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser

from api.field_errors import WHOLE
from worker.contracts.plain_json import MAX_DEPTH, json_problems


class PlainJSONParser(JSONParser):
    """DRF's, which also refuses what PostgreSQL cannot store, numbers that are not finite, depth and size."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Raises `RequestDataTooBig`, `ParseError`, or `ValidationError` by dotted path."""
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        content = stream.read(limit + 1)
        if len(content) > limit:
            raise RequestDataTooBig
        if (number := _most_values(content)) > MAX_VALUES:
            raise ParseError(f"the body must hold ≤ {MAX_VALUES} values, got {number}: send less at once")
        try:
            document = super().parse(BytesIO(content), media_type, parser_context)
        except RecursionError as error:
            raise ParseError(f"lists and objects must be nested ≤ {MAX_DEPTH} deep, got more: flatten them") from error
        except ParseError as error:
            said = str(error.detail).removeprefix("JSON parse error - ")
            raise ParseError(f"the body is not valid JSON: {said}") from error
        problems: dict[str, list[str]] = {}
        for path, problem in json_problems(document):
            problems.setdefault(path or WHOLE, []).append(problem)
            if len(problems) == MAX_PROBLEMS:
                break
        if problems:
            raise ValidationError(problems)
        return document


def _most_values(content: bytes) -> int:
    """An upper bound of the number of values, from the marks between them."""
    number = sum(map(content.count, _MARKS))
    # Texts hold commas, too.
    return number if number <= MAX_VALUES else sum(map(_STRING.sub(b"", content).count, _MARKS))


_MARKS = (b",", b"[", b"{")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
MAX_VALUES = 2_000_000
"""Of a body: 100,000 prompts with a dozen fields each. As zeros 16 million would fit into its bytes, which take
gigabytes once they are read."""
MAX_PROBLEMS = 20
"""Of one body that are told at once: a file of zeros has as many as characters."""
