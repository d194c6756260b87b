import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunSpec } from "../../api/schema.ts";
import { adapter, spec } from "../../testing/builders.ts";
import { archiveCommand, componentsOf, filesCommand, loadCode } from "./snippets.ts";

const LORA = adapter();
const EXPERTS = adapter([
  "transformer/config.json",
  "transformer/1.safetensors",
  "transformer_2/config.json",
  "transformer_2/1.safetensors",
]);
const trainedOn = (base_model: RunSpec["base_model"]): RunSpec => ({ ...spec(), base_model });

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
  assert.deepEqual(componentsOf(LORA), []);
  assert.equal(
    loadCode(trainedOn({ path: "some/base", dtype: "bf16", family: "wan22" }), EXPERTS),
    `import torch
from diffusers import AutoModel, DiffusionPipeline

transformer = AutoModel.from_pretrained("mine-v2", subfolder="transformer", torch_dtype=torch.bfloat16)
transformer_2 = AutoModel.from_pretrained("mine-v2", subfolder="transformer_2", torch_dtype=torch.bfloat16)
pipeline = DiffusionPipeline.from_pretrained("some/base", transformer=transformer, transformer_2=transformer_2, torch_dtype=torch.bfloat16)`,
  );
});

test("a LoRA is loaded beside the base model", () => {
  assert.equal(
    loadCode(trainedOn({ path: "shapes", dtype: "fp32", family: "flux" }), LORA),
    `from diffusers import DiffusionPipeline

pipeline = DiffusionPipeline.from_pretrained("shapes")
pipeline.load_lora_weights("mine-v2", weight_name="pytorch_lora_weights.safetensors")`,
  );
});

test("where a family has two experts the LoRA goes into both", () => {
  assert.match(loadCode(trainedOn({ path: "w", dtype: "fp32", family: "wan22" }), LORA), /prefix="transformer_2"/);
  assert.doesNotMatch(loadCode(trainedOn({ path: "w", dtype: "fp32", family: "wan" }), LORA), /transformer_2/);
});
