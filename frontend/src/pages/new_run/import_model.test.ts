import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { isObject, type JsonObject } from "../../base/paths.ts";
import { installBrowser, type Requested, settled } from "../../testing/browser.ts";
import { ImportModel } from "./import_model.ts";

const QUIET = 320;
const RECIPES = "def plain():\n    return base.get_config()\n";

let model: ImportModel;
let requests: Requested[];
let names: readonly string[];
let refusal: { readonly status: number; readonly json: JsonObject } | null;

beforeEach(() => {
  names = ["plain", "ocr"];
  refusal = null;
  requests = installBrowser(({ body }) => {
    if (refusal) return refusal;
    const asked = isObject(body) ? body : {};
    const kind = asked.kind ?? (String(asked.source).startsWith("def") ? "flow_grpo" : "diffusers");
    const functions = kind === "flow_grpo" ? names : [];
    const isMade = kind === "diffusers" || Boolean(asked.function);
    return { json: { kind, functions, spec: {}, yaml: isMade ? "seed: 1\n" : "", carried: [], left_out: [] } };
  });
  model = new ImportModel();
});

/** What is still waiting must not ask within the next test. */
afterEach(() => settled(QUIET));

const asked = () => requests.map(({ body }) => body as JsonObject);

test("a text is read once typing pauses, as what it looks like", async () => {
  for (const text of ["train.py --rank", "train.py --rank=4"]) model.edit(text);
  assert.ok(model.isReading.value);
  await settled(QUIET);
  assert.deepEqual(asked(), [{ kind: null, source: "train.py --rank=4", num_gpus: null }]);
  assert.deepEqual([model.kind.value, model.ready.value?.yaml], ["diffusers", "seed: 1\n"]);
});

test("of several functions one is to be chosen, which names the run", async () => {
  model.edit(RECIPES);
  await settled(QUIET);
  assert.deepEqual([model.functions.value, model.ready.value], [["plain", "ocr"], null]);
  await model.chooseFunction("ocr");
  assert.equal(asked().at(-1)?.function, "ocr");
  assert.deepEqual([model.runName, model.ready.value?.yaml], ["ocr", "seed: 1\n"]);
});

test("a command after a recipe is not named for the recipe's function", async () => {
  await model.open(new File([RECIPES], "grpo.py"));
  await model.chooseFunction("ocr");
  await model.open(new File(["train.py --rank=8"], "start.sh"));
  assert.deepEqual([model.functionName.value, model.runName], ["", "start"]);
});

test("an only function needs no choice, and one that is gone is chosen no more", async () => {
  await model.open(new File([RECIPES], "grpo.py"));
  await model.chooseFunction("ocr");
  names = ["plain"];
  model.edit(`${RECIPES}\n`);
  await settled(QUIET);
  assert.equal(asked().at(-1)?.function, "plain");
});

test("a kind that was chosen by hand stays until a file is opened", async () => {
  model.edit("train.py --rank=4");
  await settled(QUIET);
  await model.chooseKind("flow_grpo");
  assert.equal(asked().at(-1)?.kind, "flow_grpo");
  await model.open(new File(["train.py --rank=8"], "start.sh"));
  assert.deepEqual([asked().at(-1)?.kind, model.kind.value, model.runName], [null, "diffusers", "start"]);
});

test("a refusal stands at its field, and nothing is left to fill the form", async () => {
  await model.open(new File(["train.py --rank=4"], "start.sh"));
  refusal = { status: 400, json: { errors: { source: ["line 1: no"] } } };
  model.edit("def broken(:");
  await settled(QUIET);
  assert.deepEqual(
    [model.errors.value, model.found.value, model.problem.value],
    [{ source: ["line 1: no"] }, null, null],
  );
  refusal = { status: 503, json: { detail: "try later" } };
  await model.chooseKind("flow_grpo");
  assert.deepEqual([model.errors.value, model.problem.value], [{}, "try later"]);
});

test("a file without functions, and one too large to be a configuration, are refused", async () => {
  names = [];
  await model.open(new File([RECIPES], "grpo.py"));
  assert.match(model.errors.value.source?.[0] ?? "", /no configuration/);
  const before = requests.length;
  await model.open(new File(["x".repeat(800_001)], "weights.bin"));
  assert.match(model.errors.value.source?.[0] ?? "", /weights.bin must be ≤ .*got/);
  assert.deepEqual([requests.length, model.ready.value], [before, null]);
});

test("a text that is emptied asks nobody and leaves nothing", async () => {
  await model.open(new File([RECIPES], "grpo.py"));
  const before = requests.length;
  model.edit(" ");
  await settled(QUIET);
  assert.deepEqual(
    [requests.length, model.functions.value, model.kind.value, model.found.value],
    [before, [], null, null],
  );
});
