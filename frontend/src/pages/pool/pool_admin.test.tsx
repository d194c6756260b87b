import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { installBrowser } from "../../testing/browser.ts";
import { poolGpu, poolNode } from "../../testing/builders.ts";
import { textOf } from "../../testing/markup.ts";
import { poolOf } from "./pool_form.tsx";
import { matchText } from "./pools_dialog.tsx";
import { PriceForm, priceIn } from "./price_form.tsx";
import { RemoveNode, removalRefused } from "./remove_node.tsx";

beforeEach(() => {
  installBrowser();
});

const nothing = () => undefined;

test("a price is a number of up to four decimals, none takes it away, and anything else is refused", () => {
  assert.deepEqual(["2.5", " 1,25 ", "", "0"].map(priceIn), ["2.5", "1.25", null, "0"]);
  assert.deepEqual(["two", "-1", "1.23456", "1e3", "1000000000"].map(priceIn), new Array(5).fill(undefined));
});

test("a GPU without a price of its own is offered its node's", () => {
  const node = poolNode(1, { price_per_gpu_hour: "2.0000" });
  const gpu = poolGpu(1, { price_per_gpu_hour: null });
  assert.match(textOf(<PriceForm node={node} gpu={gpu} onDone={nothing} />), /Price and notes/);
});

test("a node can be removed once it is lost, and never while its lanes are held", () => {
  const text = (fields: Parameters<typeof poolNode>[1]) =>
    textOf(<RemoveNode node={poolNode(1, fields)} onRemoved={nothing} />);
  assert.equal(text({ state: "available" }), "");
  assert.equal(text({ state: "lost", num_held: 0 }), "Remove from the pool");
  assert.match(text({ state: "lost", num_held: 2 }), /2 of its lanes are held/);
  assert.match(removalRefused({ name: "gpu0", num_held: 1 }) ?? "", /^gpu0 cannot be removed yet: one of its lanes is/);
});

test("a pool is written as the server takes it, and read as its labels", () => {
  const pool = poolOf({ name: " h100 ", labels: "model: h100\nfast", order: "10", description: " new cards " });
  assert.deepEqual(pool, {
    name: "h100",
    match_labels: { model: "h100", fast: "" },
    order: 10,
    description: "new cards",
  });
  assert.equal(matchText({ match_labels: { model: "h100", fast: "" } }), "model: h100, fast");
  assert.equal(matchText({ match_labels: {} }), "what no other pool matches");
});
