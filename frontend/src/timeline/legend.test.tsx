import assert from "node:assert/strict";
import { test } from "node:test";
import { span, timeline } from "../testing/builders.ts";
import { textOf } from "../testing/markup.ts";
import { TimelineLegend } from "./legend.tsx";
import { TimelineState } from "./timeline_state.ts";

test("the legend names the kinds that occurred, in its own order", () => {
  const state = new TimelineState();
  const spans = [span({ kind: "idle", cause: "drain" }), span({ kind: "train" }), span({ kind: "train", start: 2 })];
  state.load(timeline({ spans }));
  assert.equal(textOf(<TimelineLegend state={state} />), "Train Idle");
});

test("before the first span it is empty", () => {
  assert.equal(textOf(<TimelineLegend state={new TimelineState()} />), "");
});
