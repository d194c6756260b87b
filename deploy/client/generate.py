"""Writes what of the client is not written by hand: the models of REST, from the committed schema, and the synchronous
client, from the asynchronous one. `make contract` runs it and compares.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from answers_schema import ANSWERS, pruned
from model_modules import write_modules

CLIENT = Path(__file__).parent
SCHEMA = CLIENT.parents[1] / "frontend" / "openapi.json"
MODELS = CLIENT / "tandem" / "rest_models"
ASYNCHRONOUS, SYNCHRONOUS = CLIENT / "tandem" / "asynchronous", CLIENT / "tandem" / "synchronous"
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
MAX_LINE = 110
"""Characters of a docstring that has room beside its quotes, four spaces in, within 120."""
HEADER = '"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""'
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


def write_models() -> None:
    """Readers that tolerate: what a newer server adds is kept, names of a choice too; what it leaves out of an answer
    is an error."""
    with tempfile.TemporaryDirectory() as folder:
        source, models = Path(folder) / "schema.json", Path(folder) / "models.py"
        source.write_text(json.dumps(pruned(json.loads(SCHEMA.read_text()))))
        subprocess.run(
            [
                *(str(Path(sys.executable).parent / "datamodel-codegen"), "--input", str(source)),
                *("--input-file-type", "openapi", "--output", str(models), "--target-python-version", "3.10"),
                *("--output-model-type", "pydantic_v2.BaseModel", "--base-class", "tandem.tolerant_model.Model"),
                *("--enum-field-as-literal", "all", "--collapse-root-models"),
                *("--use-union-operator", "--use-standard-collections", "--use-annotated", "--disable-timestamp"),
                *("--use-schema-description", "--use-field-description", "--disable-warnings"),
            ],
            check=True,
        )
        text = DOCSTRING.sub(lambda match: on_one_line(match[0]), models.read_text())
    write_modules(text, ANSWERS, MODELS, HEADER)


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
