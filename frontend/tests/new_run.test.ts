import assert from "node:assert/strict";
import { test } from "node:test";
import { getPath, type JsonObject } from "../src/base/paths.ts";
import { settled, whyNot } from "../src/pages/new_run/applies.ts";
import { equivalentCurl } from "../src/pages/new_run/curl.ts";
import { GROUPS, inFormOrder, settingField } from "../src/pages/new_run/fields.ts";
import { rewardKey } from "../src/pages/new_run/reward_names.ts";
import { SpecSchema } from "../src/pages/new_run/spec_schema.ts";

test("the command quotes what a shell would otherwise read", () => {
  const command = equivalentCurl("http://host", { project: "p", name: "it's $HOME", spec: {} });
  assert.ok(command.includes(`it'\\''s $HOME`));
  assert.ok(command.startsWith("curl -X POST http://host/api/v1/runs"));
});

test("no field is asked for twice and each says what it is", () => {
  const fields = GROUPS.flatMap((group) => group.fields);
  assert.equal(new Set(fields.map((field) => field.path)).size, fields.length);
  for (const field of fields) assert.ok(field.label, field.path);
});

const SCHEMA = new SpecSchema({
  $defs: {
    Batch: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 2, description: "At least `2`." },
        part: {
          anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }],
          default: null,
          description: "Empty: whole.",
        },
      },
    },
    Name: {
      type: "string",
      enum: ["a", "b"],
      oneOf: [
        { const: "a", description: "The first." },
        { const: "b", description: "The second." },
      ],
    },
    Reward: { type: "object", properties: { name: { $ref: "#/$defs/Name", description: "The scorer." } } },
  },
  properties: {
    batch: { $ref: "#/$defs/Batch", default: {} },
    rewards: { type: "array", items: { $ref: "#/$defs/Reward" } },
  },
});

test("bounds, help and emptiness come from the schema", () => {
  const size = SCHEMA.at("batch.size");
  assert.deepEqual([size.type, size.min, size.step, size.optional, size.help], ["integer", 2, 1, false, "At least 2."]);
  const part = SCHEMA.at("batch.part");
  assert.deepEqual([part.type, part.min, part.optional], ["integer", 1, true]);
});

test("choices come from the schema with their help, through lists and references", () => {
  const { type, choices } = SCHEMA.at("rewards.*.name");
  assert.deepEqual(
    [type, choices],
    [
      "choice",
      [
        { value: "a", help: "The first." },
        { value: "b", help: "The second." },
      ],
    ],
  );
  assert.throws(() => SCHEMA.at("batch.nothing"), /no field/);
});

const VARIANTS = new SpecSchema({
  $defs: {
    Plain: {
      description: "The `plain` one.",
      properties: {
        name: { const: "plain", type: "string" },
        clip: { type: "number", default: 5, description: "Cut." },
        range: { type: "number", default: 0.1 },
      },
    },
    Other: {
      description: "The other.",
      properties: {
        range: { type: "number", default: 2 },
        clip: { type: "number", default: 5 },
        name: { const: "other", type: "string" },
        num_steps: { type: "integer", minimum: 1 },
      },
    },
  },
  properties: {
    algorithm: {
      discriminator: { propertyName: "name", mapping: {} },
      oneOf: [{ $ref: "#/$defs/Plain" }, { $ref: "#/$defs/Other" }],
    },
  },
});

test("a section with variants shows the settings of the one the spec has", () => {
  const spec = { algorithm: { name: "other", range: 3, clip: 4, num_steps: 2 } };
  assert.deepEqual(VARIANTS.at("algorithm.name", spec).choices, [
    { value: "plain", help: "The plain one." },
    { value: "other", help: "The other." },
  ]);
  assert.deepEqual(VARIANTS.settings("algorithm", spec), ["range", "clip", "num_steps"]);
  assert.equal(VARIANTS.at("algorithm.num_steps", spec).min, 1);
  assert.deepEqual(VARIANTS.settings("algorithm", {}), ["clip", "range"]);
  assert.throws(() => VARIANTS.at("algorithm.num_steps", {}), /no field/);
});

test("another variant keeps the settings that mean the same in both", () => {
  const spec = { seed: 1, algorithm: { name: "plain", clip: 4, range: 0.3 } };
  assert.deepEqual(VARIANTS.switched("algorithm", "other", spec), { seed: 1, algorithm: { clip: 4, name: "other" } });
});

test("settings without a label of their own are named by their key", () => {
  assert.deepEqual(settingField("algorithm", "num_good_levels"), {
    path: "algorithm.num_good_levels",
    label: "Good levels",
  });
  assert.deepEqual(settingField("algorithm", "stride"), {
    path: "algorithm.stride",
    label: "Window moves by",
    unit: "denoising steps",
  });
  assert.equal(settingField("algorithm", "kl_coefficient").label, "KL coefficient");
});

test("DanceGRPO brings its SDE, and what draws without noise has no use for one", () => {
  const dance = settled({ algorithm: { name: "dance_grpo" }, sampling: { sde_type: "flow" } });
  assert.equal(dance["sampling"] && (dance["sampling"] as JsonObject)["sde_type"], "dance");
  assert.match(whyNot("sampling.sde_type", dance), /SDE of its own/);
  const feedback = {
    algorithm: { name: "refl" },
    sampling: { sde_type: "flow" },
    pipeline: { max_staleness: 1, importance_cap: null },
  };
  assert.equal(settled(feedback), feedback);
  assert.match(whyNot("sampling.noise_level", feedback), /without noise/);
  assert.match(whyNot("pipeline.importance_cap", feedback), /no sample by a ratio/);
});

test("a section's keys come in the form's order, unknown ones last", () => {
  assert.deepEqual(inFormOrder("batch", ["zzz", "group_size", "num_prompts_per_batch"]), [
    "num_prompts_per_batch",
    "group_size",
    "zzz",
  ]);
});

const pipeline = (fields: JsonObject) => ({
  pipeline: { placement: "disaggregated", tag: "off", max_staleness: 0, importance_cap: null, ...fields },
});

test("what does not apply says why, and holds what the server accepts", () => {
  const colocated = settled(pipeline({ placement: "colocated", tag: "greedy", max_staleness: 1, importance_cap: 2 }));
  assert.deepEqual(colocated, pipeline({ placement: "colocated" }));
  for (const path of ["gap", "tag", "max_staleness", "importance_cap"])
    assert.ok(whyNot(`pipeline.${path}`, colocated), path);
});

test("the cap applies with staleness alone, and goes with it", () => {
  const stale = pipeline({ max_staleness: 1, importance_cap: 2 });
  assert.equal(settled(stale), stale);
  assert.equal(whyNot("pipeline.importance_cap", stale), "");
  assert.deepEqual(settled(pipeline({ importance_cap: 2 })), pipeline({}));
});

test("fields without a rule always apply", () => {
  assert.equal(whyNot("seed", {}), "");
});

const REWARDS = new SpecSchema({
  $defs: {
    RemoteSettings: {
      properties: {
        url: { type: "string", description: "Where." },
        secret: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      },
    },
    Reward: {
      properties: {
        settings: {
          settings_of: { remote: "RemoteSettings" },
          default: null,
          anyOf: [{ $ref: "#/$defs/RemoteSettings" }, { type: "null" }],
        },
      },
    },
  },
  properties: { rewards: { type: "array", items: { $ref: "#/$defs/Reward" } } },
});

test("a reward's settings are those of its name, and others have none", () => {
  const settings = REWARDS.settingsByName("rewards.*.settings", "remote");
  assert.deepEqual(
    settings.map(([key, field]) => [key, field.help, field.optional]),
    [
      ["url", "Where.", false],
      ["secret", "", true],
    ],
  );
  assert.deepEqual(REWARDS.settingsByName("rewards.*.settings", "colorfulness"), []);
});

test("a reward's curves go by its label, or by its scorer's name", () => {
  assert.equal(rewardKey({ name: "remote", label: "faces" }), "faces");
  assert.equal(rewardKey({ name: "remote", label: null }), "remote");
});

test("with all weights trained nothing is asked of a LoRA", () => {
  assert.match(whyNot("lora.rank", { tuning: "full" }), /no LoRA/);
  assert.equal(whyNot("lora.rank", {}), "");
});

test("kernels, weights cut and the average say when they mean nothing", () => {
  const sd3 = settled({ base_model: { family: "sd3" }, performance: { compilation: "inductor", attention: "flash" } });
  assert.deepEqual(sd3["performance"], { compilation: "off", attention: "default" });
  assert.match(whyNot("deepspeed.initialize_model_on_cpu", { deepspeed: { config: "zero2" } }), /ZeRO 3/);
  assert.equal(whyNot("deepspeed.initialize_model_on_cpu", { deepspeed: { config: "zero3_cpuoffload" } }), "");
  assert.match(whyNot("ema.every_num_optimizer_steps", { ema: { decay: 0 } }), /no average/);
});

test("only a family with an expert for low noise has its guidance", () => {
  const wan = settled({ base_model: { family: "wan" }, sampling: { guidance_scale_2: 3 } });
  assert.equal(getPath(wan, "sampling.guidance_scale_2"), null);
  assert.equal(whyNot("sampling.guidance_scale_2", { base_model: { family: "wan22" } }), "");
});

test("what a model family has no use for is greyed out, and put at what the server accepts", () => {
  const flux = settled({ base_model: { family: "flux" }, sampling: { num_frames: 9, negative_prompt: "blurred" } });
  assert.equal(getPath(flux, "sampling.num_frames"), 1);
  assert.equal(getPath(flux, "sampling.negative_prompt"), "");
  assert.match(whyNot("sampling.batched_cfg", flux), /one pass/);
  const wan = settled({ base_model: { family: "wan" }, sampling: { num_frames: 9, negative_prompt: "blurred" } });
  assert.equal(getPath(wan, "sampling.num_frames"), 9);
  assert.equal(getPath(wan, "sampling.negative_prompt"), "blurred");
  assert.equal(whyNot("sampling.batched_cfg", wan), "");
});
