import assert from "node:assert/strict";
import { test } from "node:test";
import type { Validation } from "../../api/schema.ts";
import { installBrowser, settled } from "../../testing/browser.ts";
import { Validator } from "./validation.ts";

const ANSWER: Validation = {
  ok: true,
  errors: {},
  lines: {},
  document: null,
  algebra: null,
  algebra_text: null,
  warnings: [],
  spec: null,
  yaml: null,
};

test("an answer is passed on with its request", async () => {
  installBrowser(() => ({ json: ANSWER }));
  const answered: unknown[] = [];
  const validator = new Validator((request) => answered.push(request));
  await validator.now({ yaml: "seed: 1" });
  assert.deepEqual(answered, [{ yaml: "seed: 1" }]);
  assert.equal(validator.checking.value, false);
});

test("a body that the server refuses as a whole is an answer too: errors by field", async () => {
  installBrowser(() => ({ status: 400, json: { errors: { project: ["no such project"] } } }));
  const validator = new Validator(() => undefined);
  await validator.now({ spec: {} });
  assert.deepEqual(validator.errorsAt("project"), ["no such project"]);
  assert.equal(validator.answer.value?.ok, false);
  assert.equal(validator.problem.value, null);
});

test("a request without an answer is a problem, until the next one can", async () => {
  installBrowser(() => new TypeError("network"));
  const validator = new Validator(() => undefined);
  await validator.now({ spec: {} });
  assert.match(String(validator.problem.value), /did not answer/);
  installBrowser(() => ({ json: ANSWER }));
  await validator.now({ spec: {} });
  assert.equal(validator.problem.value, null);
});

test("while somebody types, one request is sent", async () => {
  const requests = installBrowser(() => ({ json: ANSWER }));
  const validator = new Validator(() => undefined);
  for (const seed of [1, 2, 3]) validator.ask({ spec: { seed } });
  assert.equal(validator.checking.value, true);
  await settled(320);
  assert.deepEqual(
    requests.map(({ body }) => body),
    [{ spec: { seed: 3 } }],
  );
});

test("who waits for the check waits for that of the newest request", async () => {
  installBrowser(({ body }) => ({ json: { ...ANSWER, ok: JSON.stringify(body).includes("2") } }));
  const validator = new Validator(() => undefined);
  await validator.whenChecked();
  for (const seed of [1, 2]) validator.ask({ spec: { seed } });
  await validator.whenChecked();
  assert.equal(validator.answer.value?.ok, true);
  assert.equal(validator.checking.value, false);
});

test("every error comes with its path and line; one of the spec as a whole has none", async () => {
  installBrowser(() => ({
    json: { ...ANSWER, lines: { seed: 4 }, errors: { seed: ["too small", "odd"], __all__: ["no reward"] } },
  }));
  const validator = new Validator(() => undefined);
  await validator.now({ spec: {} });
  assert.deepEqual(validator.allErrors(), [
    { path: "seed", message: "too small", line: 4 },
    { path: "seed", message: "odd", line: 4 },
    { path: "", message: "no reward", line: null },
  ]);
});

test("before the first answer there are no errors", () => {
  const validator = new Validator(() => undefined);
  assert.deepEqual([validator.errorsAt("seed"), validator.allErrors()], [[], []]);
});

test("it says that it checks from the request to its answer", async () => {
  installBrowser(() => ({ json: ANSWER }));
  const validator = new Validator(() => undefined);
  assert.equal(validator.checking.value, false);
  const asking = validator.now({ spec: {} });
  assert.equal(validator.checking.value, true);
  await asking;
  assert.equal(validator.checking.value, false);
});

test("what was typed just before a request without a pause does not overtake it", async () => {
  const requests = installBrowser(() => ({ json: ANSWER }));
  const validator = new Validator(() => undefined);
  validator.ask({ spec: { seed: 1 } });
  await validator.now({ spec: { seed: 2 } });
  await settled(320);
  assert.deepEqual(
    requests.map(({ body }) => body),
    [{ spec: { seed: 2 } }],
  );
});
