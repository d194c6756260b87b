"""The weights of a full fine-tuning run as files that diffusers loads: a folder for each transformer.

```text
published shards ─────────────► diffusion_pytorch_model-00001-of-00003.safetensors …
weights that are not trained ─► …-00003-of-00003.safetensors
names of all tensors ─────────► diffusion_pytorch_model.safetensors.index.json
the trainer's config.json ────► config.json
```

The upload thread fetches and serializes one shard at a time, so that the driver never holds a whole model in memory.
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
"""The beginning of the file names that diffusers looks for (`diffusers.utils.WEIGHTS_NAME`)."""
_HEADER_LENGTH_BYTES = 8
"""A safetensors file begins with the length of its JSON header, as a 64-bit little-endian integer."""


def transformer_files(folder: str, version: RemoteVersion, exported: Mapping[str, bytes]) -> list[ArtifactFile]:
    """Every file of every transformer.

    Args:
        folder: the artifact path of the files.
        version: the weights to store; those for evaluation, where a version has such.
        exported: the files that the trainer exported, by path: `<component>/config.json` and the like.
    """
    components = sorted({path.partition("/")[0] for path in exported})
    files: list[ArtifactFile] = []
    for component in components:
        prefix = f"{component}." if len(components) > 1 else ""
        own = {
            path.partition("/")[2]: content for path, content in exported.items() if path.startswith(f"{component}/")
        }
        files += _component_files(f"{folder}/{component}", prefix, version, own)
    return files


def _component_files(
    folder: str, prefix: str, version: RemoteVersion, exported: Mapping[str, bytes]
) -> list[ArtifactFile]:
    """The files of one transformer, whose tensors have names with `prefix` in the version."""
    weights: list[tuple[tuple[str, ...], int, Callable[[], bytes]]] = [
        (info.names, info.num_bytes, partial(shard_content, ref, prefix))
        for info, ref in zip(version.shard_infos, version.refs, strict=True)
        if info.names[0].startswith(prefix)
    ]
    untrained = exported.get(UNTRAINED_FILE)
    if untrained is not None:
        names = tuple(prefix + name for name in _tensor_names(untrained))
        weights.append((names, len(untrained), partial(bytes, untrained)))
    file_names = [f"{STEM}-{number:05d}-of-{len(weights):05d}.safetensors" for number in range(1, len(weights) + 1)]
    index = {
        "metadata": {"total_size": sum(num_bytes for _, num_bytes, _ in weights)},
        "weight_map": {
            name.removeprefix(prefix): file
            for (names, _, _), file in zip(weights, file_names, strict=True)
            for name in names
        },
    }
    contents: dict[str, Callable[[], bytes]] = {
        path: partial(bytes, content) for path, content in exported.items() if path != UNTRAINED_FILE
    }
    contents[f"{STEM}.safetensors.index.json"] = json.dumps(index, indent=1).encode
    contents |= {file: read for (_, _, read), file in zip(weights, file_names, strict=True)}
    return [ArtifactFile(f"{folder}/{path}", read) for path, read in contents.items()]


def shard_content(ref: ObjectRef, prefix: str = "") -> bytes:
    """A published shard as a safetensors file, with tensor names without `prefix`."""
    shard: PublishedShard = ray.get(ref)
    stored = shard if shard.evaluated is None else shard.evaluated
    tensors = {
        name.removeprefix(prefix): TensorSpec(
            dtype=packed.dtype,
            shape=packed.shape,
            data_ptr=packed.content.ctypes.data,
            data_len=packed.content.nbytes,
        )
        for name, packed in stored.packed.items()
    }
    return serialize(tensors, {"format": "pt"})


def _tensor_names(content: bytes) -> list[str]:
    """The names of the tensors in a safetensors file."""
    length = int.from_bytes(content[:_HEADER_LENGTH_BYTES], "little")
    header = json.loads(content[_HEADER_LENGTH_BYTES : _HEADER_LENGTH_BYTES + length])
    return [name for name in header if name != "__metadata__"]
