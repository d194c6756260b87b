import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { Preset, SavedCheckpoint, Validation } from "../../api/schema.ts";
import { getPath, isObject, type JsonObject } from "../../base/paths.ts";
import { installBrowser, type Requested, settled } from "../../testing/browser.ts";
import { run, spec } from "../../testing/builders.ts";
import { specSchema } from "../../testing/committed.ts";
import { FormModel, withDefaults } from "./form_model.ts";

const QUIET = 320;
const PRESET: Preset = { name: "demo", title: "The demo", description: "", spec: { ...spec(), seed: 7 } };

let model: FormModel;
let requests: Requested[];
let verdict: (request: JsonObject) => Partial<Validation>;

beforeEach(() => {
  verdict = () => ({});
  requests = installBrowser(({ body }) => {
    const request = isObject(body) ? body : {};
    const normal = isObject(request.spec) ? request.spec : null;
    const answer = {
      ok: true,
      errors: {},
      lines: {},
      document: null,
      algebra: null,
      algebra_text: "8 × 8",
      warnings: [],
      yaml: "seed: 7\n",
    };
    return { json: { ...answer, spec: normal, ...verdict(request) } };
  });
  model = new FormModel(specSchema());
});

/** What is still waiting must not ask within the next test. */
afterEach(() => settled(QUIET));

const asked = () => requests.map(({ body }) => body);

test("a preset fills the form and is checked at once", async () => {
  model.project.value = "p";
  model.choosePreset(PRESET);
  await settled(5);
  assert.deepEqual([model.name.value, model.presetName.value, model.value("seed")], ["The demo", "demo", 7]);
  assert.deepEqual(asked(), [{ spec: PRESET.spec, project: "p" }]);
  assert.ok(model.ok.value);
  assert.equal(model.yaml.value, "seed: 7\n");
});

test("an import fills the form as YAML does, what it lacks included, and is of no preset", async () => {
  model.choosePreset(PRESET);
  model.show(true);
  await settled(5);
  verdict = (request) => ("yaml" in request ? { ok: false, spec: null, document: { seed: 3 } } : {});
  await model.fillFrom("ocr", "seed: 3\n");
  assert.deepEqual([model.spec.value, model.yaml.value, model.asYaml.value], [{ seed: 3 }, "seed: 3\n", false]);
  assert.deepEqual([model.name.value, model.newRun.preset, model.unreadYaml.value], ["ocr", undefined, null]);
});

test("a rerun starts from its parent and knows what differs from it", async () => {
  model.repeat(run({ id: "parent", name: "first", spec: PRESET.spec }));
  await settled(5);
  assert.deepEqual([model.name.value, model.project.value], ["first, again", "project-1"]);
  assert.equal(model.isChanged("seed"), false);
  model.set("seed", 8);
  assert.equal(model.isChanged("seed"), true);
  assert.equal(model.parentValue("seed"), 7);
  assert.equal(model.newRun.parent, "parent");
});

const CHECKPOINT: SavedCheckpoint = {
  id: 5,
  attempt: 1,
  batch: 20,
  policy_version: 20,
  optimizer_step: 80,
  uri: "file:///c/20",
  num_bytes: 9,
  created_at: 1,
  is_kept: true,
  training_reward: null,
  held_out_reward: null,
};

test("a fork is checked and started with its checkpoint, and is longer than what is done", async () => {
  model.fork(
    run({ id: "parent", name: "first", num_batches: 20, spec: { ...PRESET.spec, num_batches: 20 } }),
    CHECKPOINT,
  );
  await settled(QUIET);
  assert.equal(model.name.value, "first, from batch 20");
  assert.equal(model.value("num_batches"), 40);
  const newest = asked().at(-1);
  assert.ok(isObject(newest));
  assert.deepEqual([newest.parent, newest.checkpoint], ["parent", 5]);
  assert.deepEqual([model.newRun.parent, model.newRun.checkpoint], ["parent", 5]);
});

test("yaml that cannot be read is kept, and does not keep the form from starting", async () => {
  model.choosePreset(PRESET);
  await settled(5);
  model.show(true);
  verdict = (request) => ("yaml" in request ? { ok: false, spec: null, errors: { __all__: ["line 1"] } } : {});
  model.editYaml("seed: [");
  await settled(QUIET);
  assert.equal(model.ok.value, false);
  model.show(false);
  await settled(5);
  assert.deepEqual([model.ok.value, model.value("seed"), model.unreadYaml.value], [true, 7, "seed: ["]);
  model.show(true);
  await settled(5);
  assert.deepEqual([model.ok.value, model.yaml.value, model.unreadYaml.value], [false, "seed: [", null]);
});

test("yaml that is refused for a value is shown in the form with that value", async () => {
  model.choosePreset(PRESET);
  await settled(5);
  model.show(true);
  verdict = () => ({ ok: false, spec: null, document: { seed: -1 }, errors: { seed: ["too small"] } });
  model.editYaml("seed: -1");
  await settled(QUIET);
  model.show(false);
  await settled(5);
  assert.deepEqual([model.value("seed"), model.errorsAt("seed"), model.unreadYaml.value], [-1, ["too small"], null]);
});

test("a new run has no parent, and a name without blanks around it", () => {
  model.name.value = "  mine ";
  model.project.value = "p";
  assert.deepEqual(model.newRun, { project: "p", name: "mine", spec: {} });
  assert.equal(model.isChanged("seed"), false);
});

test("typing asks the server once it pauses, and blocks the start meanwhile", async () => {
  model.choosePreset(PRESET);
  await settled(5);
  for (const seed of [8, 9, 10]) model.set("seed", seed);
  assert.equal(model.ok.value, false);
  await settled(QUIET);
  assert.equal(asked().length, 2);
  assert.equal(getPath(asked()[1] as JsonObject, "spec.seed"), 10);
  assert.ok(model.ok.value);
});

test("setting what is there already asks nobody", async () => {
  model.choosePreset(PRESET);
  await settled(5);
  model.set("seed", 7);
  await settled(QUIET);
  assert.equal(asked().length, 1);
});

test("a field that no longer applies goes to what the server accepts, together with the change", () => {
  model.choosePreset(PRESET);
  model.set("pipeline.max_staleness", 1);
  model.set("pipeline.importance_cap", 5);
  model.set("pipeline.max_staleness", 0);
  assert.equal(model.value("pipeline.importance_cap"), null);
  assert.match(model.whyNot("pipeline.importance_cap"), /stale/);
});

test("another algorithm brings its own settings and keeps those that mean the same", async () => {
  model.choosePreset(PRESET);
  model.set("algorithm.kl_coefficient", 0.25);
  model.set("algorithm.name", "dance_grpo");
  assert.equal(model.value("algorithm.kl_coefficient"), 0.25);
  assert.equal(model.value("algorithm.timestep_fraction"), 0.6);
  assert.equal(model.value("sampling.sde_type"), "dance");
  await settled(5);
  assert.equal(getPath(asked().at(-1) as JsonObject, "spec.algorithm.name"), "dance_grpo", "without a pause");
});

test("errors stand at their fields, and those of the whole spec at none", async () => {
  verdict = () => ({
    ok: false,
    errors: { "batch.group_size": ["must be ≥ 2"], __all__: ["nothing fits"] },
    spec: null,
  });
  model.choosePreset(PRESET);
  await settled(5);
  assert.deepEqual(model.errorsAt("batch.group_size"), ["must be ≥ 2"]);
  assert.deepEqual(model.errorsAt("seed"), []);
  assert.deepEqual(model.validator.allErrors(), [
    { path: "batch.group_size", message: "must be ≥ 2", line: null },
    { path: "", message: "nothing fits", line: null },
  ]);
  assert.equal(model.ok.value, false);
});

test("YAML is checked as it is, and fills the form once it is right", async () => {
  verdict = () => ({ spec: { ...spec(), seed: 42 } });
  model.editYaml("seed: 42");
  await settled(QUIET);
  assert.deepEqual(asked(), [{ yaml: "seed: 42" }]);
  assert.equal(model.value("seed"), 42);
  assert.equal(model.yaml.value, "seed: 42", "what is typed is not written over");
});

test("an answer to an older request fills in nothing", async () => {
  verdict = () => ({ spec: { ...spec(), seed: 99 } });
  model.choosePreset(PRESET);
  model.spec.value = { ...model.spec.value, seed: 5 };
  await settled(5);
  assert.equal(model.value("seed"), 5);
});

test("defaults fill what is missing, and never what was typed", () => {
  const normal = { seed: 0, batch: { group_size: 8, fragment_size: null }, rewards: [{ name: "a", weight: 1 }] };
  const typed = { batch: { group_size: "" }, rewards: [{ name: "a" }] };
  assert.deepEqual(withDefaults(normal, typed), {
    seed: 0,
    batch: { group_size: "", fragment_size: null },
    rewards: [{ name: "a" }],
  });
});

test("the project that is chosen is asked about", async () => {
  model.choosePreset(PRESET);
  model.chooseProject("other");
  await settled(QUIET);
  assert.equal((asked().at(-1) as JsonObject).project, "other");
});
