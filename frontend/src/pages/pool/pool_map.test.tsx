import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuLive, poolGpu, poolNode } from "../../testing/builders.ts";
import { attributes, markup, textOf } from "../../testing/markup.ts";
import type { Colouring, Key } from "./cells.ts";
import { PoolMap } from "./pool_map.tsx";

const map = (
  node = poolNode(1),
  colouring: Colouring = "state",
  selected: readonly Key[] = [],
  peers: readonly Key[] = [],
) => (
  <PoolMap
    nodes={[node]}
    colouring={colouring}
    selection={new Set(selected)}
    peers={new Set(peers)}
    onSelect={() => undefined}
  />
);

test("the node, each GPU and each CPU lane is an option with a label, and GPU lanes are not drawn twice", () => {
  assert.deepEqual(attributes(map(), "data-key"), ["node:1", "gpu:1", "gpu:2", "lane:9"]);
  assert.deepEqual(attributes(map(), "aria-label"), [
    "Nodes with their GPUs and CPU lanes",
    "Node gpu0",
    "Node gpu0, available, 2 GPUs, 0 of 3 lanes held",
    "GPU 1, available, gpu0",
    "GPU 2, available, gpu0",
    "Lane gpu0/cpu-9, available",
  ]);
});

test("a screen reader hears what a cell shows", () => {
  const gpu = poolGpu(1, {
    state: "allocated",
    state_when_free: "draining",
    live: gpuLive({ utilisation: 0.873, memory_used_bytes: 20 * 2 ** 30 }),
  });
  const labels = (colouring: Colouring) => attributes(map(poolNode(1, { gpus: [gpu] }), colouring), "aria-label");
  assert.ok(labels("state").includes("GPU 1, allocated, then draining, gpu0"));
  assert.ok(labels("utilisation").includes("GPU 1, allocated, then draining, 87 % utilisation, gpu0"));
  assert.ok(labels("memory").includes("GPU 1, allocated, then draining, 25 % of its memory used, gpu0"));
});

test("what is selected is so for screen readers, and peers are marked", () => {
  const marked = map(poolNode(1), "state", ["gpu:1"], ["gpu:2"]);
  assert.deepEqual(attributes(marked, "aria-selected"), ["false", "true", "false", "false"]);
  assert.match(markup(marked), /class="cell gpu available peer"[^>]*aria-label="GPU 2/);
});

test("a mixed node names each of its models over its own cards", () => {
  const gpus = [poolGpu(1), poolGpu(2, { accelerator: "NVIDIA L40S" })];
  assert.match(textOf(map(poolNode(1, { gpus }))), /H100 80GB 1 L40S 2/);
});

test("a large cell shows the value that colours it", () => {
  const gpu = poolGpu(1, { live: gpuLive({ utilisation: 0.873, memory_used_bytes: 40 * 2 ** 30 }) });
  const node = poolNode(1, { gpus: [gpu] });
  assert.match(textOf(map(node, "utilisation")), /87$/);
  assert.match(textOf(map(node, "memory")), /50$/);
  assert.match(markup(map(node, "memory")), /valued percent-50/);
});
