"""The outcome of a run of all weights as files that diffusers loads: a folder for each transformer.

```text
published shards ──────────────► diffusion_pytorch_model-00001-of-00003.safetensors …
what is stored but not trained ─► …-00003-of-00003.safetensors
names in either ───────────────► diffusion_pytorch_model.safetensors.index.json
the trainer's config.json ─────► config.json
```

Shards are fetched and written out one at a time, when the upload thread comes to them: a model never stands in the
driver's memory.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial

import ray
from ray import ObjectRef
from safetensors import TensorSpec, serialize

from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.telemetry.artifact_uploader import ArtifactFile
from worker.engine.types import UNTRAINED_FILE, PublishedShard

STEM = "diffusion_pytorch_model"
_HEADER_LENGTH_BYTES = 8


def transformer_files(folder: str, version: RemoteVersion, made: Mapping[str, bytes]) -> list[ArtifactFile]:
    """Every file of every transformer.

    Args:
        folder: artifact path that they lie under.
        version: whose weights they hold: what is evaluated, where that is another.
        made: the trainer's part, by path: `<component>/config.json` and the like.
    """
    components = sorted({path.partition("/")[0] for path in made})
    files: list[ArtifactFile] = []
    for component in components:
        prefix = f"{component}." if len(components) > 1 else ""
        own = {path.partition("/")[2]: content for path, content in made.items() if path.startswith(f"{component}/")}
        files += _component_files(f"{folder}/{component}", prefix, version, own)
    return files


def _component_files(folder: str, prefix: str, version: RemoteVersion, made: Mapping[str, bytes]) -> list[ArtifactFile]:
    weights: list[tuple[tuple[str, ...], int, Callable[[], bytes]]] = [
        (facts.names, facts.num_bytes, partial(shard_content, ref, prefix))
        for facts, ref in zip(version.facts, version.refs, strict=True)
        if facts.names[0].startswith(prefix)
    ]
    untrained = made.get(UNTRAINED_FILE)
    if untrained is not None:
        names = tuple(prefix + name for name in _names_in(untrained))
        weights.append((names, len(untrained), partial(bytes, untrained)))
    names_of_files = [f"{STEM}-{place:05d}-of-{len(weights):05d}.safetensors" for place in range(1, len(weights) + 1)]
    index = {
        "metadata": {"total_size": sum(num_bytes for _, num_bytes, _ in weights)},
        "weight_map": {
            name.removeprefix(prefix): file
            for (names, _, _), file in zip(weights, names_of_files, strict=True)
            for name in names
        },
    }
    contents: dict[str, Callable[[], bytes]] = {
        path: partial(bytes, content) for path, content in made.items() if path != UNTRAINED_FILE
    }
    contents[f"{STEM}.safetensors.index.json"] = json.dumps(index, indent=1).encode
    contents |= {file: read for (_, _, read), file in zip(weights, names_of_files, strict=True)}
    return [ArtifactFile(f"{folder}/{path}", read) for path, read in contents.items()]


def shard_content(ref: ObjectRef, prefix: str = "") -> bytes:
    """A shard as a safetensors file, its names without `prefix`."""
    shard: PublishedShard = ray.get(ref)
    chosen = shard if shard.evaluated is None else shard.evaluated
    tensors = {
        name.removeprefix(prefix): TensorSpec(
            dtype=packed.dtype,
            shape=packed.shape,
            data_ptr=packed.content.ctypes.data,
            data_len=packed.content.nbytes,
        )
        for name, packed in chosen.packed.items()
    }
    return serialize(tensors, {"format": "pt"})


def _names_in(content: bytes) -> list[str]:
    """Of the tensors in a safetensors file, which begins with the length of a JSON header."""
    length = int.from_bytes(content[:_HEADER_LENGTH_BYTES], "little")
    header = json.loads(content[_HEADER_LENGTH_BYTES : _HEADER_LENGTH_BYTES + length])
    return [name for name in header if name != "__metadata__"]
