import assert from "node:assert/strict";
import { test } from "node:test";
import { specSchema } from "../../testing/committed.ts";
import { splitHelp } from "./help_text.ts";

test("the first sentence leads", () => {
  assert.deepEqual(splitHelp("Rank of the LoRA. Usual: 32. Raise it."), {
    lead: "Rank of the LoRA.",
    rest: "Usual: 32. Raise it.",
  });
});

test("a full stop within a name or a number ends no sentence", () => {
  assert.equal(splitHelp("Usual: 0.7 (SD3.5), 0.9 (FLUX.1). More is rare.").lead, "Usual: 0.7 (SD3.5), 0.9 (FLUX.1).");
  assert.equal(splitHelp("Bound on it. 1e-4 is usual.").lead, "Bound on it.");
});

test("a single sentence has no rest", () => {
  assert.deepEqual(splitHelp("Watched."), { lead: "Watched.", rest: "" });
  assert.deepEqual(splitHelp(""), { lead: "", rest: "" });
});

test("every field of a spec leads with a sentence short enough to stand below its input", () => {
  const schema = specSchema();
  for (const path of schema.paths()) {
    const { lead } = splitHelp(schema.at(path).help);
    assert.ok(lead.length <= 200, `${path}: ${lead.length}`);
  }
});
