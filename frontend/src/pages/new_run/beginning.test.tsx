import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run, SavedCheckpoint } from "../../api/schema.ts";
import { installBrowser } from "../../testing/browser.ts";
import { run } from "../../testing/builders.ts";
import { specSchema } from "../../testing/committed.ts";
import { textOf } from "../../testing/markup.ts";
import { Beginning } from "./beginning.tsx";
import { FormModel } from "./form_model.ts";

const FORK = run({ id: "fork", name: "the fork", parent: "parent", forked_batch: 10, forked_from: "file:///c/10" });
const said = (repeats: Run | null, model = new FormModel(specSchema())) =>
  textOf(
    <div>
      <Beginning model={model} repeats={repeats} />
    </div>,
  );

test("a repeat of a fork says that it begins from the base model", () => {
  assert.match(said(FORK), /the fork was forked from batch 10 .* begins from the base model/);
  assert.equal(said(run({ forked_batch: null })), "");
  assert.equal(said(null), "");
});

test("begun from the same checkpoint, it keeps what is in the form and names the checkpoint", () => {
  const requests = installBrowser(() => ({ json: {} }));
  const model = new FormModel(specSchema());
  model.repeat(FORK);
  const spec = model.spec.value;
  model.beginFrom(run({ id: "parent" }), { id: 7, batch: 10 } as SavedCheckpoint);
  assert.deepEqual([model.newRun.parent, model.newRun.checkpoint], ["parent", 7]);
  assert.equal(model.spec.value, spec);
  assert.deepEqual((requests.at(-1)?.body as { checkpoint: number } | undefined)?.checkpoint, 7);
  assert.match(said(FORK, model), /begins with the weights of batch 10/);
});
