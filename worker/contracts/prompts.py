"""A prompt as a record: what a group generates from, and what its rewards may know of it.

    spec or uploaded set ──► Run.prompts ──► bootstrap by URL ──► generation (text, negative)
                                                             └──► rewards (text, metadata, pictures)

Invariant: a prompt of nothing but text is written as that text and read from it, so that a list of lines stays one.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field, GetJsonSchemaHandler, JsonValue, TypeAdapter, model_serializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema, SerializerFunctionWrapHandler

from worker.contracts.base import Contract
from worker.contracts.plain_json import is_plain, json_problems, text_problem

MAX_PROMPT_CHARACTERS = 2000
"""Several times what the longest text encoder of any family reads (512 tokens), so that nothing useful is refused."""
MAX_METADATA_BYTES = 16_384
"""Of one prompt, as JSON: a task of many objects takes some hundred bytes. Files belong below a model root."""
MAX_PICTURES = 8
"""Of one prompt: models that take reference pictures take up to about five."""
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:-]*$"
MAX_ID_CHARS = 64
MAX_METADATA_FIELDS = 256
"""Of one prompt: more than any benchmark's, as its bytes are bounded too."""

PromptText = Annotated[str, Field(min_length=1, max_length=MAX_PROMPT_CHARACTERS)]
PicturePath = Annotated[str, Field(min_length=1, max_length=500)]


class Prompt(Contract):
    """A prompt with its negative prompt, metadata and pictures. Text alone may be written in its place."""

    text: PromptText
    """What the model is asked to generate."""
    negative: Annotated[str, Field(max_length=MAX_PROMPT_CHARACTERS)] | None = None
    """What it is to avoid, for families with a negative prompt. Null: `sampling.negative_prompt` of the run."""
    metadata: Annotated[dict[str, JsonValue], Field(max_length=MAX_METADATA_FIELDS)] = {}
    """Facts for rewards, as a JSON object: counts, objects and colours to check, a reference answer. Reward code of
    your own reads them; the model never sees them."""
    pictures: Annotated[tuple[PicturePath, ...], Field(max_length=MAX_PICTURES)] = ()
    """Paths of pictures below TANDEM_MODEL_ROOTS that rewards may compare with. Remote scorers get their bytes."""
    id: Annotated[str, Field(pattern=ID_PATTERN, max_length=MAX_ID_CHARS)] = ""
    """Name of the prompt, by which samples of different runs are compared. By default a digest of all the rest."""

    def negative_or(self, default: str) -> str:
        """The prompt's own negative prompt, or the run's where it has none."""
        return default if self.negative is None else self.negative

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _bounded_and_identified(self) -> Self:
        # Of the 100,000 prompts of a set most are texts alone, of which nothing else needs a look.
        metadata = self._checked_metadata() if self.metadata or self.negative or self.pictures else "{}"
        if problem := text_problem(self.text):
            raise ValueError(f"`text` {problem}")
        if not self.id:
            # Not among the fields that were set: the digest is made anew wherever the prompt is read.
            self.__dict__["id"] = _digest(self, metadata)
        return self

    def _checked_metadata(self) -> str:
        """The metadata as sorted JSON. Raises `ValueError` for fields that cannot be stored or are too large."""
        given = {"negative": self.negative, "metadata": self.metadata, "pictures": self.pictures}
        if not is_plain(given):
            raise ValueError(next(problem for _, problem in json_problems(given)))
        metadata = _sorted_json(self.metadata)
        if len(metadata) > MAX_METADATA_BYTES:
            raise ValueError(
                f"`metadata` must be ≤ {MAX_METADATA_BYTES} bytes as JSON, got {len(metadata)}: "
                "put large data into files that the reward reads"
            )
        return metadata

    @model_serializer(mode="wrap")
    def _as_text_where_it_is_all(self, handler: SerializerFunctionWrapHandler) -> Any:
        if self.model_fields_set == _TEXT_ALONE:
            return self.text
        return {name: value for name, value in handler(self).items() if name in self.model_fields_set}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(_without_serializers(core_schema)))
        # A dump leaves out what was not given, so no other field is in every answer.
        schema = {**schema, "required": ["text"]}
        return {"anyOf": [{"type": "string", "minLength": 1, "maxLength": MAX_PROMPT_CHARACTERS}, schema]}


def prompt_of_line(line: str) -> Prompt:
    """The prompt of a line of a text file: a JSON object for one with more than text. Raises `ValueError`."""
    return Prompt.model_validate(json.loads(line) if line.startswith("{") else line)


def require_different(prompts: Sequence[Prompt], field: str) -> None:
    """Raises `ValueError` naming the first two prompts of `field` with one id."""
    seen: dict[str, int] = {}
    for index, prompt in enumerate(prompts):
        if prompt.id in seen:
            raise ValueError(
                f"`{field}` must not repeat a prompt, got `{prompt.text[:60]}` as number {index + 1} and number "
                f"{seen[prompt.id] + 1}: each group needs a prompt of its own"
            )
        seen[prompt.id] = index


def _without_serializers(schema: Any) -> Any:
    """Pydantic cannot know what a serializer of our own gives; without it, the record is described by its fields."""
    kept = {name: value for name, value in schema.items() if name != "serialization"}
    return kept | {"schema": _without_serializers(kept["schema"])} if "schema" in kept else kept


_TEXT_ALONE = {"text"}
_sorted_json = json.JSONEncoder(sort_keys=True).encode
"""Made once: `json.dumps` makes an encoder for each call with other than its default arguments."""


def _digest(prompt: Prompt, metadata: str) -> str:
    """16 hexadecimal digits: of a million prompts, two have the same with a probability of 3 in 100 million. Of the
    sorted JSON of text, negative prompt, metadata and pictures, as a list."""
    negative = "null" if prompt.negative is None else json.dumps(prompt.negative)
    pictures = json.dumps(prompt.pictures) if prompt.pictures else "[]"
    text = json.dumps(prompt.text)
    return hashlib.sha256(f"[{text}, {negative}, {metadata}, {pictures}]".encode()).hexdigest()[:16]


_PROMPTS: TypeAdapter[tuple[Prompt, ...]] = TypeAdapter(tuple[Prompt, ...])


def dump_prompts(prompts: Sequence[Prompt]) -> list[Any]:
    """The prompts as JSON: a text for each that is nothing else, an object for every other."""
    dumped: list[Any] = _PROMPTS.dump_python(tuple(prompts), mode="json")
    return dumped


def parse_prompts(dumped: Sequence[Any]) -> tuple[Prompt, ...]:
    """The prompts that `dump_prompts` wrote. Raises pydantic's `ValidationError` for anything else."""
    return _PROMPTS.validate_python(tuple(dumped))
