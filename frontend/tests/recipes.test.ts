import assert from "node:assert/strict";
import { test } from "node:test";
import type { Adapter, Run } from "../src/api/types.ts";
import { archiveCommand, componentsOf, filesCommand, loadCode } from "../src/pages/run/recipes.ts";

const file = (path: string) => ({ path, num_bytes: 1, sha256: "a".repeat(64), url: `/files/${path}` });
const version = (paths: readonly string[]): Adapter => ({
  id: 7,
  batch: 2,
  policy_version: 2,
  tuning: paths.length > 1 ? "full" : "lora",
  final: true,
  num_bytes: 1,
  sha256: "b".repeat(64),
  files: paths.map(file),
  folder: "mine-v2",
  url: "/archive",
  archive_url: "/archive",
  created_at: 0,
});
const LORA = version(["pytorch_lora_weights.safetensors"]);
const EXPERTS = version([
  "transformer/config.json",
  "transformer/1.safetensors",
  "transformer_2/config.json",
  "transformer_2/1.safetensors",
]);
const run = (base_model: Record<string, string>) => ({ spec: { base_model } }) as unknown as Run;

test("an archive is one stream", () => {
  const command = archiveCommand("https://here", EXPERTS);
  assert.match(command, /"https:\/\/here\/archive" \| tar --extract$/);
});

test("every file is fetched under its own name and checked", () => {
  const lines = filesCommand("https://here", EXPERTS).split("\n");
  assert.equal(lines[0], 'mkdir -p "mine-v2" && cd "mine-v2"');
  assert.ok(lines.includes('fetch transformer/config.json     1 "https://here/files/transformer/config.json"'));
  assert.ok(lines.includes(`${"a".repeat(64)}  transformer_2/1.safetensors`));
});

test("whole parts replace those of the base model", () => {
  assert.deepEqual(componentsOf(EXPERTS), ["transformer", "transformer_2"]);
  assert.equal(
    loadCode(run({ path: "some/base", dtype: "bf16", family: "wan22" }), EXPERTS),
    `import torch
from diffusers import AutoModel, DiffusionPipeline

transformer = AutoModel.from_pretrained("mine-v2", subfolder="transformer", torch_dtype=torch.bfloat16)
transformer_2 = AutoModel.from_pretrained("mine-v2", subfolder="transformer_2", torch_dtype=torch.bfloat16)
pipeline = DiffusionPipeline.from_pretrained("some/base", transformer=transformer, transformer_2=transformer_2, torch_dtype=torch.bfloat16)`,
  );
});

test("a LoRA is loaded beside the base model, into both experts where there are two", () => {
  const plain = loadCode(run({ path: "shapes", dtype: "fp32", family: "flux" }), LORA);
  assert.equal(
    plain,
    `from diffusers import DiffusionPipeline

pipeline = DiffusionPipeline.from_pretrained("shapes")
pipeline.load_lora_weights("mine-v2", weight_name="pytorch_lora_weights.safetensors")`,
  );
  assert.match(loadCode(run({ path: "w", dtype: "fp32", family: "wan22" }), LORA), /prefix="transformer_2"/);
});
