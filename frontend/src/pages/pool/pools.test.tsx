import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { LaneMove } from "../../api/schema.ts";
import { installBrowser } from "../../testing/browser.ts";
import { poolGpu, poolLane, poolNode } from "../../testing/builders.ts";
import { textOf } from "../../testing/markup.ts";
import { LabelForm, Moves } from "./label_form.tsx";
import { labelsOf, labelsText } from "./labels.ts";
import { ALL_POOLS, nodesInPool, poolNames, poolsText } from "./pool_filter.ts";

beforeEach(() => {
  installBrowser();
});

const MIXED = poolNode(1, {
  lanes: [
    poolLane(11, { kind: "gpu", label: "gpu0/gpu-1", pool: "fast", held_since: "2026-01-01T00:00:00Z" }),
    poolLane(12, { kind: "gpu", label: "gpu0/gpu-2" }),
    poolLane(9),
  ],
});
const PLAIN = poolNode(2, { lanes: [poolLane(21)], gpus: [] });

test("pools are listed by name, the default one last", () => {
  assert.deepEqual(poolNames([PLAIN, MIXED, poolNode(3, { lanes: [poolLane(31, { pool: "zeta" })] })]), [
    "fast",
    "zeta",
    "default",
  ]);
});

test("a pool has its lanes and their GPUs only, and leaves out nodes without any", () => {
  const [node, ...others] = nodesInPool([MIXED, PLAIN], "fast");
  assert.deepEqual(others, []);
  assert.deepEqual([node?.lanes.map(({ id }) => id), node?.gpus.map(({ id }) => id)], [[11], [1]]);
  assert.deepEqual([node?.num_lanes, node?.num_held], [1, 1]);
  assert.equal(nodesInPool([MIXED, PLAIN], "default").length, 2);
  assert.deepEqual(nodesInPool([MIXED, PLAIN], ALL_POOLS), [MIXED, PLAIN]);
});

test("a node that has not changed is drawn as it was", () => {
  assert.equal(nodesInPool([MIXED], "fast")[0], nodesInPool([MIXED], "fast")[0]);
});

test("a node says how many of its lanes are in which pool", () => {
  assert.equal(poolsText(MIXED), "fast 1, default 2");
  assert.equal(poolsText(PLAIN), "default");
});

test("labels are read as they are written", () => {
  const text = "rack: r2\nteam/owner:vision\n\n  spare ";
  assert.deepEqual(labelsOf(text), { rack: "r2", "team/owner": "vision", spare: "" });
  assert.equal(labelsText(labelsOf(text)), "rack: r2\nteam/owner: vision\nspare");
  assert.deepEqual(labelsOf(""), {});
});

const move = (lane: string, is_held = false): LaneMove => ({ lane, old: "default", new: "fast", is_held });

test("what moves is said by pools, with what is held", () => {
  assert.match(textOf(<Moves moves={[move("a/cpu-0")]} />), /a\/cpu-0 moves from default to fast$/);
  assert.match(
    textOf(<Moves moves={[move("a/cpu-0"), move("a/cpu-1", true)]} />),
    /2 lanes move from default to fast, 1 of them held: whoever holds it keeps it/,
  );
  assert.match(textOf(<Moves moves={[]} />), /No lane changes its pool/);
});

test("labels of a GPU are its own, not its node's", () => {
  const node = poolNode(1, { labels: { rack: "r2" } });
  const gpu = poolGpu(1, { labels: { model: "h100" } });
  assert.match(textOf(<LabelForm node={node} gpu={gpu} onDone={() => undefined} />), /model: h100/);
  assert.match(textOf(<LabelForm node={node} onDone={() => undefined} />), /rack: r2/);
});
