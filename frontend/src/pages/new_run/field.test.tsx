import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../base/paths.ts";
import { specSchema } from "../../testing/committed.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import { Field } from "./field.tsx";
import { GROUPS, MODEL_FIELDS } from "./fields.ts";

const SCHEMA = specSchema();
const FIELDS = [...MODEL_FIELDS, ...GROUPS.flatMap((group) => group.fields)];

interface Options {
  readonly errors?: readonly string[];
  readonly parent?: Json;
  readonly whyNot?: string;
  readonly suggestions?: readonly string[];
}

/** A field of the form on the committed schema. */
function field(path: string, value: Json, options: Options = {}) {
  const known = FIELDS.find((one) => one.path === path);
  assert.ok(known, path);
  return (
    <Field
      field={known}
      schema={SCHEMA.at(path)}
      value={value}
      errors={options.errors ?? []}
      parent={options.parent}
      isRerun={options.parent !== undefined}
      whyNot={options.whyNot ?? ""}
      suggestions={options.suggestions}
      onChange={() => undefined}
    />
  );
}

test("a number has the schema's bound and step", () => {
  const html = markup(field("batch.group_size", 8));
  assert.match(html, /type="number"/);
  assert.match(html, /min="2"/);
  assert.match(html, /step="1"/);
  assert.match(html, /value="8"/);
});

test("an optional number that is empty says what that means", () => {
  const html = markup(field("elastic.min_rollout", null));
  assert.match(html, /placeholder="as asked"/);
  assert.match(html, /value\/>/);
});

test("a choice offers what the server accepts and explains the one made", () => {
  const element = field("priority", "low");
  assert.match(textOf(element), /high normal low/);
  assert.match(textOf(element), /sweeps that may take their time/);
  assert.match(markup(element), /<option[^>]*selected[^>]*>low|<option selected[^>]*value="low"/);
});

test("help shows its first sentence, and the rest on demand", () => {
  const html = markup(field("batch.group_size", 8));
  assert.match(html, /<details class="field-help"><summary[^>]*>Trajectories of one prompt[^<]*\.<\/summary>Usual: 12/);
});

test("a switch is on or off", () => {
  assert.match(markup(field("pipeline.deterministic", true)), /type="checkbox"[^>]*checked/);
  assert.doesNotMatch(markup(field("pipeline.deterministic", false)), /checked/);
});

test("errors stand where help stood, and the input is marked", () => {
  const element = field("batch.group_size", 1, { errors: ["`group_size` must be ≥ 2"] });
  assert.match(markup(element), /role="alert"><code>group_size<\/code> must be ≥ 2/);
  assert.doesNotMatch(markup(element), /class="field-help"/);
  assert.deepEqual(attributes(element, "aria-invalid"), ["true"]);
});

test("a field that does not apply cannot be set and says why", () => {
  const element = field("batch.group_size", 8, { whyNot: "Pairs need no groups." });
  assert.match(markup(element), /disabled/);
  assert.match(textOf(element), /Pairs need no groups\.$/);
});

test("a rerun shows what the parent had where it differs, and nothing where it does not", () => {
  assert.match(textOf(field("batch.group_size", 8, { parent: 4 })), /was 4, put back$/);
  assert.doesNotMatch(textOf(field("batch.group_size", 8, { parent: 8 })), /put back/);
  assert.doesNotMatch(textOf(field("batch.group_size", 8)), /put back/);
});

test("values known for a text are offered", () => {
  const element = field("base_model.path", "", { suggestions: ["shapes-base"] });
  assert.match(markup(element), /list="field-base_model\.path-known"/);
  assert.match(markup(element), /<option value="shapes-base">/);
});

test("every field of the form is drawn from its own schema", () => {
  for (const one of FIELDS) {
    const html = markup(field(one.path, SCHEMA.at(one.path).fallback ?? null));
    assert.ok(html.includes(`id="field-${one.path}"`), one.path);
  }
});
