"""Many prompts through the encoding phase of a run, with a tiny model: seconds, resident memory, disk.

    python -m tests.bench.encoding_phase [--prompts 50000] [--folder var/bench/embeddings]

A second call with the same folder shows what a later run takes. What is read back is compared, bit for bit, with what
the text encoders give in this process.
"""

import argparse
import os
import random
import time
from pathlib import Path

import torch

from worker.contracts.embedding_room import FOLDER_VARIABLE
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import parse_prompts
from worker.contracts.run_spec import RunSpec
from worker.engine.models.pipeline_loading import TEXT_ONLY
from worker.engine.models.prompt_encoding import StoredEmbeddings, run_embeddings
from worker.engine.models.registry import load_model
from worker.engine.rollout.sampler import Sampler
from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint

NUM_READ, NUM_COMPARED = 20_000, 2_000
"""Prompts that a lane reads in random order, and those of them that are compared."""


def resident() -> str:
    """This process's resident memory, and the part that is its own."""
    rows = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    whole, own = (int(rows[name].split()[0]) // 1024 for name in ("VmRSS", "RssAnon"))
    return f"{whole} MiB resident, {own} of them its own"


def compare(embeddings: StoredEmbeddings, spec: RunSpec, path: str, texts: list[str]) -> None:
    """Raise `AssertionError` where what is stored differs from what is encoded now."""
    encoder = load_model(spec.base_model, path, parts=TEXT_ONLY)
    for text in texts:
        found, expected = embeddings.find(text), encoder.encode_prompt(text)
        assert found is not None and found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in expected), text


def main() -> None:
    parser = argparse.ArgumentParser(description="Encode many prompts with a tiny model.")
    parser.add_argument("--prompts", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, default=Path("var/bench/embeddings"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    os.environ[FOLDER_VARIABLE] = str(asked.folder / "store")
    path = asked.folder / "flux"
    if not path.exists():
        build_tiny_checkpoint(ModelFamily.FLUX, asked.folder)
    spec = RunSpec.model_validate({"prompts": {"inline": list("abcdefgh")}, "rewards": [{"name": "colorfulness"}]})
    prompts = parse_prompts([f"a thing with the number {number}" for number in range(asked.prompts)])
    print(f"before: {resident()}")
    began = time.monotonic()
    embeddings = run_embeddings(spec, str(path), prompts)
    print(f"{asked.prompts} prompts in {time.monotonic() - began:.1f} s: {resident()}")
    chosen = random.Random(0).sample(prompts, min(NUM_READ, len(prompts)))
    model = Sampler.load(spec, str(path), embeddings=embeddings)._model
    began = time.monotonic()
    for prompt in chosen:
        model.conditioning(prompt, spec.sampling)
    seconds = time.monotonic() - began
    print(f"{len(chosen)} read at random, {seconds / len(chosen) * 1e6:.0f} µs each: {resident()}")
    compare(embeddings, spec, str(path), [prompt.text for prompt in chosen[:NUM_COMPARED]])
    files = list((asked.folder / "store").rglob("*.safetensors"))
    on_disk = sum(file.stat().st_blocks * 512 for file in files) / 2**20
    print(f"bitwise as encoded here; {len(files)} files, {on_disk:.0f} MiB on disk")


if __name__ == "__main__":
    main()
