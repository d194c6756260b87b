import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { PoolLane } from "../../api/schema.ts";
import { installBrowser } from "../../testing/browser.ts";
import { gpuFaults, gpuLive, poolGpu, poolLane, poolNode } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import type { Key } from "./cells.ts";
import { Inspector } from "./inspector.tsx";

beforeEach(() => {
  installBrowser();
});

const inspector = (keys: readonly Key[], mayAct = false, node = poolNode(1)) => (
  <Inspector
    nodes={[node]}
    selection={new Set(keys)}
    mayAct={mayAct}
    onSelect={() => undefined}
    onRemoved={() => undefined}
    onActed={() => undefined}
  />
);

function heldNode(fields: Partial<PoolLane>) {
  const lane = poolLane(11, { kind: "gpu", label: "gpu0/gpu-1", state: "allocated", role: "rollout", ...fields });
  return poolNode(1, { lanes: [lane] });
}

test("a GPU is shown with its identity, its faults and its three verdicts", () => {
  const gpu = poolGpu(1, {
    live: gpuLive({ utilisation: 0.5, temperature: 61 }),
    faults: gpuFaults({ xids: { "63": 2 } }),
    topology: { numa_node: 1, nvlink_peers: ["GPU-2"], num_nvlinks_up: 18 },
    health: "warning",
    health_causes: ["bad rows of memory wait for a reset"],
  });
  const text = textOf(inspector(["gpu:1"], false, poolNode(1, { gpus: [gpu, poolGpu(2)] })));
  for (const part of [
    /^GPU 1 of gpu0/,
    /Reachable unknown Ray counted/,
    /Schedulable yes/,
    /Healthy with a warning Since .* bad rows of memory/,
    /Xid 63, 2 times/,
    /Utilisation 50 %/,
    /Temperature 61 °C/,
    /UUID GPU-1/,
    /NVLink to GPU 2/,
    /NUMA node 1/,
  ]) {
    assert.match(text, part);
  }
});

test("a card without a profile is described by what its node measured, as far as its library tells", () => {
  const described = (num_processors: number) => {
    const figures = { num_processors, bf16_flops: 118e12, fp32_flops: 35e12, memory_bandwidth: 601e9 };
    const gpu = poolGpu(1);
    if (gpu.identity === null) assert.fail("it has reported");
    const node = poolNode(1, { gpus: [{ ...gpu, identity: { ...gpu.identity, figures } }] });
    return textOf(inspector(["gpu:1"], false, node));
  };
  assert.match(described(84), /Measured 118 TFLOPS in bf16, 35 TFLOPS in fp32, 560 GiB\/s, 84 multiprocessors/);
  assert.doesNotMatch(described(1), /multiprocessors/);
});

test("values that a card does not offer are left out", () => {
  assert.doesNotMatch(textOf(inspector(["gpu:1"])), /Power|Energy|null/);
});

test("the run is linked for those who may see it, and not named for others", () => {
  const seen = markup(inspector(["gpu:1"], false, heldNode({ run_id: "run-1", run_name: "mine" })));
  assert.match(seen, /<a href="\/runs\/run-1">mine<\/a>/);
  const hidden = inspector(["gpu:1"], false, heldNode({ run_id: null, run_name: "a run of another project" }));
  assert.match(textOf(hidden), /Run a run of another project/);
  assert.doesNotMatch(markup(hidden), /\/runs\//);
});

test("only pool admins get the actions, and a reason is required", () => {
  assert.deepEqual(attributes(inspector(["gpu:1"]), "value"), []);
  assert.deepEqual(attributes(inspector(["gpu:1"], true), "value"), [
    ...["cordon", "drain", "maintenance", "resume", "test"],
  ]);
  assert.match(markup(inspector(["gpu:1"], true)), /<input name="reason"[^>]*required/);
});

test("CPU lanes among the selected are not drained, and the button says why", () => {
  const drain = /<button type="submit" class="button" value="drain"[^>]*\sdisabled[^>]*title="CPU lanes are cordoned/;
  assert.match(markup(inspector(["gpu:1", "lane:9"], true)), drain);
  assert.doesNotMatch(markup(inspector(["gpu:1"], true)), drain);
});

test("several are counted by state and listed", () => {
  const text = textOf(
    inspector(["gpu:1", "gpu:2", "lane:9"], false, poolNode(1, { gpus: [poolGpu(1), poolGpu(2, { state: "lost" })] })),
  );
  assert.match(text, /^2 GPUs and 1 lane/);
  assert.match(text, /2 available, 1 lost/);
  assert.match(text, /gpu0, GPU 2 lost/);
});

test("nothing selected says how to select", () => {
  assert.match(textOf(inspector([])), /^Nothing selected Click a GPU/);
  assert.match(textOf(inspector(["gpu:77"])), /^Nothing selected/);
});
