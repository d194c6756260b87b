import assert from "node:assert/strict";
import { test } from "node:test";
import { getPath, type JsonObject } from "../../base/paths.ts";
import { specSchema } from "../../testing/committed.ts";
import { Applicability } from "./applicability.ts";
import { SpecSchema } from "./spec_schema.ts";

/** On the committed schema: what a form does with the rules that the server states. */
const SCHEMA = specSchema();
const rules = new Applicability(SCHEMA);
const whyNot = (path: string, spec: JsonObject) => rules.whyNot(path, spec);
const settled = (spec: JsonObject) => rules.settled(spec);

const pipeline = (fields: JsonObject): JsonObject => ({
  pipeline: { placement: "disaggregated", tag: "off", max_staleness: 0, importance_cap: null, ...fields },
});

test("the committed schema states rules, each about a field that it has", () => {
  assert.ok(SCHEMA.inapplicable.length > 20);
  for (const { field, where } of SCHEMA.inapplicable) {
    for (const path of [field, ...Object.keys(where)]) assert.ok(SCHEMA.at(path), path);
  }
});

test("what does not apply says why, and holds what the server accepts", () => {
  const colocated = settled(pipeline({ placement: "colocated", tag: "greedy", max_staleness: 1, importance_cap: 2 }));
  assert.deepEqual(colocated, pipeline({ placement: "colocated" }));
  for (const path of ["tag", "max_staleness", "importance_cap"]) {
    assert.ok(whyNot(`pipeline.${path}`, colocated), path);
  }
  assert.equal(whyNot("pipeline.gap", { ...colocated, deepspeed: { config: "zero1" } }), "");
  assert.match(whyNot("pipeline.gap", { ...colocated, deepspeed: { config: "zero2" } }), /in step/);
});

test("what the planner chooses is greyed out and kept as it is", () => {
  const auto = pipeline({ placement: "auto", tag: "greedy" });
  assert.match(whyNot("pipeline.tag", auto), /planner/);
  assert.equal(settled(auto), auto);
});

test("the cap applies with staleness alone, and goes with it", () => {
  const stale = pipeline({ max_staleness: 1, importance_cap: 2 });
  assert.equal(settled(stale), stale);
  assert.equal(whyNot("pipeline.importance_cap", stale), "");
  assert.deepEqual(settled(pipeline({ importance_cap: 2 })), pipeline({}));
  const unweighted = pipeline({ max_staleness: 1, stale_clip: "behaviour" });
  assert.deepEqual(settled({ pipeline: { ...(unweighted.pipeline as JsonObject), importance_cap: 2 } }), unweighted);
  assert.match(whyNot("pipeline.importance_cap", unweighted), /proximal policy/);
});

test("fields without a rule always apply", () => {
  assert.equal(whyNot("seed", {}), "");
});

test("what the spec leaves out counts as the server's default", () => {
  assert.match(whyNot("sampling.num_frames", {}), /pictures/, "the default family makes pictures");
  assert.equal(whyNot("sampling.noise_level", {}), "", "the default algorithm adds noise");
  assert.match(whyNot("ema.every_num_optimizer_steps", {}), /no average/);
});

test("DanceGRPO prescribes its SDE, and algorithms without stochastic steps need none", () => {
  const dance = settled({ algorithm: { name: "dance_grpo" }, sampling: { sde_type: "flow" } });
  assert.equal(getPath(dance, "sampling.sde_type"), "dance");
  assert.match(whyNot("sampling.sde_type", dance), /SDE of its own/);
  const feedback = {
    algorithm: { name: "refl" },
    sampling: { sde_type: "flow" },
    pipeline: { max_staleness: 1, importance_cap: null },
  };
  assert.equal(settled(feedback), feedback);
  assert.match(whyNot("sampling.noise_level", feedback), /without stochastic/);
  assert.match(whyNot("pipeline.importance_cap", feedback), /no importance ratio/);
});

test("what a model family has no use for is greyed out, and put at what the server accepts", () => {
  const flux = settled({ base_model: { family: "flux" }, sampling: { num_frames: 9, negative_prompt: "blurred" } });
  assert.equal(getPath(flux, "sampling.num_frames"), 1);
  assert.equal(getPath(flux, "sampling.negative_prompt"), "");
  assert.match(whyNot("sampling.batched_cfg", flux), /one forward pass/);
  const wan = settled({ base_model: { family: "wan" }, sampling: { num_frames: 9, negative_prompt: "blurred" } });
  assert.equal(getPath(wan, "sampling.num_frames"), 9);
  assert.equal(getPath(wan, "sampling.negative_prompt"), "blurred");
  assert.equal(whyNot("sampling.batched_cfg", wan), "");
});

test("only a family with an expert for low noise has its guidance", () => {
  const wan = settled({ base_model: { family: "wan" }, sampling: { guidance_scale_2: 3 } });
  assert.equal(getPath(wan, "sampling.guidance_scale_2"), null);
  assert.equal(whyNot("sampling.guidance_scale_2", { base_model: { family: "wan22" } }), "");
});

test("a clip's frames that fall away take its frames a second with them", () => {
  const clip = { base_model: { family: "wan" }, sampling: { num_frames: 9 } };
  assert.equal(whyNot("sampling.fps", clip), "");
  assert.match(whyNot("sampling.fps", settled({ ...clip, base_model: { family: "sd3" } })), /picture/);
});

test("with all weights trained nothing is asked of a LoRA", () => {
  assert.match(whyNot("lora.rank", { tuning: "full" }), /no LoRA/);
  assert.equal(whyNot("lora.rank", {}), "");
  const nft = settled({ algorithm: { name: "diffusion_nft" }, tuning: "full" });
  assert.equal(nft.tuning, "lora");
  assert.equal(whyNot("lora.rank", nft), "");
});

test("kernels and sharded weights say when they mean nothing", () => {
  const sd3 = settled({ base_model: { family: "sd3" }, performance: { compilation: "inductor", attention: "flash" } });
  assert.deepEqual(sd3.performance, { compilation: "inductor", attention: "auto" });
  assert.match(whyNot("deepspeed.initialize_model_on_cpu", { deepspeed: { config: "zero2" } }), /ZeRO 3/);
  assert.equal(whyNot("deepspeed.initialize_model_on_cpu", { deepspeed: { config: "zero3_cpuoffload" } }), "");
});

const rewards = [{ name: "shape_match" }, { name: "ocr" }, { name: "shape_judge", watched: true }];

test("a rule about rewards holds for each of them apart", () => {
  assert.deepEqual(
    rewards.map((_, index) => whyNot(`rewards.${index}.required`, { rewards })),
    ["", "", "A watched reward never fails a run."],
  );
  assert.equal(whyNot("rewards.7.required", { rewards }), "");
});

test("an algorithm that needs a gradient of the reward has the others watched", () => {
  const spec = settled({ algorithm: { name: "refl" }, rewards });
  assert.deepEqual(spec.rewards, [
    { name: "shape_match" },
    { name: "ocr", watched: true },
    { name: "shape_judge", watched: true },
  ]);
  assert.match(whyNot("rewards.1.watched", spec), /differentiable/);
  assert.equal(whyNot("rewards.0.watched", spec), "");
  const ratio = { algorithm: { name: "flow_grpo" }, rewards };
  assert.equal(settled(ratio), ratio);
});

test("settling twice changes no more than once, whatever is chosen", () => {
  for (const family of SCHEMA.at("base_model.family").choices) {
    for (const algorithm of SCHEMA.at("algorithm.name").choices) {
      const once = settled({
        ...pipeline({ placement: "colocated", tag: "search", max_staleness: 1, importance_cap: 3 }),
        base_model: { family: family.value },
        algorithm: { name: algorithm.value },
        sampling: { num_frames: 5, negative_prompt: "x", guidance_scale_2: 2, sde_type: "cps" },
        tuning: "full",
        rewards,
      });
      assert.equal(settled(once), once, `${family.value}, ${algorithm.value}`);
    }
  }
});

test("a rule that leaves any value alone never changes a spec", () => {
  const schema = new SpecSchema({
    properties: { a: { type: "integer", default: 0 }, b: { type: "integer", default: 0 } },
    inapplicable: [{ field: "b", where: { a: [1] }, why: "No b beside a." }],
  });
  const only = new Applicability(schema);
  const spec = { a: 1, b: 5 };
  assert.equal(only.settled(spec), spec);
  assert.equal(only.whyNot("b", spec), "No b beside a.");
});

test("a rule with several conditions holds where all of them do", () => {
  const schema = new SpecSchema({
    properties: { a: { default: 0 }, b: { default: 0 }, c: { default: 0 } },
    inapplicable: [{ field: "c", where: { a: [1, 2], b: [null] }, why: "Not here.", must_be: 9 }],
  });
  const both = new Applicability(schema);
  assert.deepEqual(both.settled({ a: 2, b: 1, c: 3 }), { a: 2, b: 1, c: 3 });
  assert.deepEqual(both.settled({ a: 3, c: 3 }), { a: 3, c: 3 });
});
