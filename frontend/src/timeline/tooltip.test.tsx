import assert from "node:assert/strict";
import { test } from "node:test";
import type { LendDecision } from "../api/schema.ts";
import { clock } from "../base/format.ts";
import { lendOf } from "../live/lends.ts";
import { lane, lendItem, span } from "../testing/builders.ts";
import { attributes, textOf } from "../testing/markup.ts";
import { factsOf, SpanTooltip } from "./tooltip.tsx";
import type { Selection } from "./under_pointer.ts";

const DECISION = lendOf(lendItem(1, 4, { predicted: 1.5 }));

function selection(fields: Parameters<typeof span>[0] = {}, lend?: LendDecision): Selection {
  const selected = span({ start: 100, end: 103, ...fields });
  const info = lane("trainer-0", { device: "gpu 3" });
  return { track: { lane: "trainer-0", info, spans: [selected] }, span: selected, lend, plan: null, x: 50, y: 60 };
}

test("a span of which nothing is known but its time says where and when", () => {
  assert.deepEqual(factsOf(selection()), [
    ["Lane", "trainer-0 · gpu 3"],
    ["From", clock(100)],
  ]);
});

test("work says batch, group, version and samples; number 0 is a number", () => {
  const facts = Object.fromEntries(factsOf(selection({ batch: 0, group: 0, policy_version: 0, num_samples: 8 })));
  assert.deepEqual([facts.Batch, facts.Group, facts["Policy version"], facts.Samples], ["0", "0", "v0", "8"]);
});

test("training says the rank and its micro-batches, other work only samples", () => {
  const train = Object.fromEntries(factsOf(selection({ kind: "train", rank: 0, num_units: 6 })));
  assert.deepEqual([train.Rank, train["Micro-batches"]], ["0", "6"]);
  const generate = factsOf(selection({ kind: "generate", num_units: 6, num_samples: 6 }));
  assert.deepEqual(
    generate.map(([name]) => name),
    ["Lane", "Samples", "From"],
  );
});

test("idle time says its cause in words", () => {
  const facts = Object.fromEntries(factsOf(selection({ kind: "idle", cause: "head_of_line" })));
  assert.equal(facts.Cause, "waiting for an earlier index");
});

test("spans merged for want of pixels say how many they are", () => {
  const facts = Object.fromEntries(factsOf(selection({ num_spans: 12 })));
  assert.equal(facts.Spans, "12, most of it this");
  assert.ok(!("Spans" in Object.fromEntries(factsOf(selection({ num_spans: 1 })))));
});

test("lent time names the decision, and its prediction where it made one", () => {
  const byDecision = (decision: LendDecision) =>
    Object.fromEntries(factsOf(selection({ kind: "lent_generate" }, decision)))["Lent by"];
  assert.equal(byDecision(DECISION), "decision 4, to gain 1.5 s");
  assert.equal(byDecision({ ...DECISION, predicted_gain_seconds: null }), "decision 4");
});

test("the tooltip names class and length, beside the pointer", () => {
  const tooltip = <SpanTooltip selection={selection({ kind: "train" })} width={800} />;
  assert.match(textOf(tooltip), /^Train 3\.0 s Lane trainer-0/);
  assert.match(attributes(tooltip, "style")[0] ?? "", /left:\s*64px;\s*top:\s*76px/);
});

test("near the right edge it stands left of the pointer", () => {
  const style = (width: number) => attributes(<SpanTooltip selection={selection()} width={width} />, "style")[0] ?? "";
  assert.match(style(309), /translate:\s*-100% 0/);
  assert.doesNotMatch(style(310), /-100%/);
});

test("one sample is a number of samples, two spans are several", () => {
  const facts = Object.fromEntries(factsOf(selection({ num_samples: 1, num_spans: 2 })));
  assert.deepEqual([facts.Samples, facts.Spans], ["1", "2, most of it this"]);
});

test("a batch and its part are told against the plan, one that goes on with what is planned only", () => {
  const batch = { planned: 2, measured: 3 };
  const ended = { ...selection(), plan: { version: 4, batch, part: { planned: 1, measured: 1.5 } } };
  const facts = Object.fromEntries(factsOf(ended));
  assert.deepEqual([facts["v4 to v5"], facts["Generate then"]], ["3.0 s, planned 2.0 s", "1.5 s, planned 1.0 s"]);
  const open = { ...ended, plan: { version: 4, batch: { planned: 2, measured: null }, part: null } };
  assert.equal(Object.fromEntries(factsOf(open))["v4 to v5"], "planned 2.0 s");
});
