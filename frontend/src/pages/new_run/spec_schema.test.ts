import assert from "node:assert/strict";
import { test } from "node:test";
import { specSchema } from "../../testing/committed.ts";
import { type SchemaNode, SpecSchema } from "./spec_schema.ts";

const PLAIN: SchemaNode = {
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
        height: { type: "integer", multipleOf: 8, default: 32 },
        rate: { type: "number", default: 0.5 },
        list: { type: "array", items: { type: "string" } },
      },
    },
    Name: {
      type: "string",
      enum: ["a", "b"],
      oneOf: [
        { const: "a", description: "The first." },
        { const: "b", description: "The second." },
      ],
      description: "Of the type.",
    },
    Reward: { type: "object", properties: { name: { $ref: "#/$defs/Name", description: "The scorer." } } },
  },
  properties: {
    batch: { $ref: "#/$defs/Batch", default: {} },
    rewards: { type: "array", items: { $ref: "#/$defs/Reward" } },
    kind: { $ref: "#/$defs/Name" },
    zero_or_one: { enum: [0, 1], default: 0 },
  },
};
const SCHEMA = new SpecSchema(PLAIN);

test("bounds, help and emptiness come from the schema", () => {
  const size = SCHEMA.at("batch.size");
  assert.deepEqual([size.type, size.min, size.step, size.optional, size.help], ["integer", 2, 1, false, "At least 2."]);
  const part = SCHEMA.at("batch.part");
  assert.deepEqual([part.type, part.min, part.optional, part.fallback], ["integer", 1, true, null]);
});

test("steps follow the type, or the multiple that is asked for", () => {
  assert.deepEqual(
    ["size", "height", "rate"].map((key) => SCHEMA.at(`batch.${key}`).step),
    [1, 8, "any"],
  );
  assert.equal(SCHEMA.at("batch.list").type, "list");
});

test("choices come from the schema with their help, through lists and references", () => {
  const { type, choices, help } = SCHEMA.at("rewards.*.name");
  assert.deepEqual(
    [type, choices, help],
    [
      "choice",
      [
        { value: "a", help: "The first." },
        { value: "b", help: "The second." },
      ],
      "The scorer.",
    ],
  );
  assert.deepEqual(SCHEMA.at("rewards.3.name"), SCHEMA.at("rewards.*.name"));
  assert.equal(SCHEMA.at("kind").help, "Of the type.");
});

test("numbers may be choices too", () => {
  const { type, choices, fallback } = SCHEMA.at("zero_or_one");
  assert.deepEqual([type, choices.map(({ value }) => value), fallback], ["choice", [0, 1], 0]);
});

test("a path that the spec does not have is a mistake of the form's", () => {
  assert.throws(() => SCHEMA.at("batch.nothing"), /no field batch\.nothing/);
  assert.throws(() => SCHEMA.at("nothing"), /no field/);
});

test("every field has its path, lists being one", () => {
  assert.deepEqual(SCHEMA.paths(), [
    "batch.size",
    "batch.part",
    "batch.height",
    "batch.rate",
    "batch.list",
    "rewards",
    "kind",
    "zero_or_one",
  ]);
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
      default: { name: "plain", clip: 5 },
      discriminator: { propertyName: "name" },
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
  assert.equal(VARIANTS.at("algorithm.name").fallback, "plain");
  assert.deepEqual(VARIANTS.settings("algorithm", spec), ["range", "clip", "num_steps"]);
  assert.equal(VARIANTS.at("algorithm.num_steps", spec).min, 1);
  assert.deepEqual(VARIANTS.settings("algorithm", {}), ["clip", "range"]);
  assert.throws(() => VARIANTS.at("algorithm.num_steps", {}), /no field/);
});

test("another variant keeps the settings that mean the same in both", () => {
  const spec = { seed: 1, algorithm: { name: "plain", clip: 4, range: 0.3 } };
  assert.deepEqual(VARIANTS.switched("algorithm", "other", spec), { seed: 1, algorithm: { clip: 4, name: "other" } });
});

test("a section with variants counts as one field", () => {
  assert.deepEqual(VARIANTS.paths(), ["algorithm"]);
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

test("the committed schema: every field of a section explains itself", () => {
  const committed = specSchema();
  for (const path of committed.paths().filter((one) => one.includes("."))) {
    assert.ok(committed.at(path).help, path);
  }
});

test("the committed schema: bounds, defaults and choices of the contract arrive", () => {
  const committed = specSchema();
  assert.deepEqual([committed.at("batch.group_size").min, committed.at("batch.group_size").fallback], [2, 8]);
  assert.equal(committed.at("sampling.height").step, 8);
  assert.ok(committed.at("sampling.guidance_scale_2").optional);
  assert.equal(committed.at("algorithm.name").fallback, "flow_grpo");
  assert.equal(committed.at("algorithm.name").choices.length, 10);
  const help = committed.at("base_model.family").choices.find(({ value }) => value === "wan22")?.help;
  assert.match(String(help), /A14B/);
});

test("the committed schema: another algorithm keeps what means the same in both", () => {
  const before = { algorithm: { name: "flow_grpo", kl_coefficient: 0.1, clip_range: 0.5 } };
  const after = specSchema().switched("algorithm", "grpo_guard", before);
  assert.deepEqual(after.algorithm, { kl_coefficient: 0.1, name: "grpo_guard" }, "its clip range is another one");
});

test("the committed schema: scorers with networks have settings, others none", () => {
  const committed = specSchema();
  const keys = (name: string) => committed.settingsByName("rewards.*.settings", name).map(([key]) => key);
  assert.deepEqual(keys("pick_score").sort(), ["dtype", "pictures_per_call", "processor", "weights"]);
  assert.deepEqual(keys("shape_match"), []);
});
