import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuFaults, poolGpu, poolNode } from "../../testing/builders.ts";
import {
  ageText,
  counterTexts,
  healthy,
  isStale,
  nodeHealthy,
  nodeSchedulable,
  reachable,
  schedulable,
} from "./pool_words.ts";

const NOW = Date.parse("2026-01-01T00:00:02Z") / 1000;
const node = poolNode(1);
const gpu = poolGpu(1);

test("ages are said to the second, and old ones in minutes", () => {
  assert.deepEqual([0.4, 2.9, 59, 130].map(ageText), ["now", "2 s ago", "59 s ago", "2 min ago"]);
});

test("what three reports have not renewed is stale, and so is what was never reported", () => {
  const at = "2026-01-01T00:00:00Z";
  assert.deepEqual([isStale(at, NOW), isStale(at, NOW + 30), isStale(null, NOW)], [false, true, true]);
});

test("reachable tells Ray's word from the watcher's", () => {
  assert.equal(reachable(node, NOW, gpu).answer, "yes");
  const silent = reachable({ ...node, in_cluster_at: "2026-01-01T00:01:00Z" }, NOW + 60, gpu);
  assert.deepEqual([silent.answer, silent.tone], ["by Ray", "warn"]);
  assert.match(silent.text, /alive 2 s ago, but its watcher was heard 1 min ago: the values below are old/);
  assert.match(reachable(node, NOW + 60, gpu).text, /node agent is silent/);
  assert.equal(reachable({ ...node, in_cluster_at: null, reported_at: null }, NOW).answer, "unknown");
});

test("a lost node or GPU is not reachable, with since when and why", () => {
  const lost = { state: "lost", since: "2026-01-01T00:00:00Z", reason: "its driver does not reach the GPU" } as const;
  assert.match(reachable(node, NOW, { ...gpu, ...lost }).text, /^The GPU has been lost since .*: its driver does not/);
  assert.equal(reachable({ ...node, ...lost }, NOW).tone, "bad");
});

test("schedulable says what was decided about what, by whom, why, since and until when", () => {
  assert.equal(schedulable(gpu).answer, "yes");
  const until = "2026-01-01T02:00:00Z";
  const by = { place: "node gpu0", reason: "too hot", changed_by: "alice", since: "2026-01-01T00:00:00Z", until };
  const kept = schedulable({ ...gpu, ...by, state: "maintenance", state_when_free: "maintenance" });
  assert.equal(kept.answer, "no");
  assert.match(kept.text, /^Node gpu0 is in maintenance by alice since .*\d\d:\d\d until .*\d\d:\d\d: too hot\.$/);
  const held = schedulable({ ...gpu, ...by, state: "allocated", state_when_free: "draining" });
  assert.match(held.text, /^Held by a run, and takes no other\. Node gpu0 is draining by alice/);
  assert.equal(schedulable({ ...gpu, state: "allocated" }).tone, "good");
  assert.equal(schedulable({ ...gpu, state: "faulty", state_when_free: "faulty" }).tone, "bad");
});

test("a draining node says how far it is", () => {
  const draining = poolNode(1, { state: "draining", num_held: 2, changed_by: "alice", reason: "fans" });
  assert.match(nodeSchedulable(draining).text, /draining by alice: fans\. 2 of 3 lanes are held: not drained yet\./);
  assert.match(nodeSchedulable({ ...draining, num_held: 0, is_drained: true }).text, /No run is left on it\./);
});

test("a health that was never asked for is unknown, not good", () => {
  assert.equal(healthy(node, { ...gpu, faults: null }, NOW).answer, "unknown");
  assert.match(healthy({ ...node, reader_error: "no NVML" }, gpu, NOW).text, /could not be read: no NVML/);
  assert.equal(healthy(node, gpu, NOW).answer, "yes");
  assert.match(healthy(node, gpu, NOW + 60).text, /no fault, as of 1 min ago/);
});

test("a warning and a failure name causes and remedy", () => {
  const ill = { ...gpu, health_causes: ["Xid 79: fallen off the bus"], remedy: "reboot the node" };
  const failed = healthy(node, { ...ill, health: "failed" }, NOW);
  assert.deepEqual([failed.tone, failed.answer], ["bad", "no"]);
  assert.match(failed.text, /Xid 79: fallen off the bus\. Recommended: reboot the node\.$/);
  assert.deepEqual(healthy(node, { ...ill, health: "warning", remedy: "none" }, NOW).answer, "with a warning");
  const gpus = [poolGpu(1, { health: "warning" }), poolGpu(2, { health: "failed" })];
  assert.match(nodeHealthy(poolNode(1, { gpus })).text, /^Failed: GPU 2\.$/);
  assert.match(nodeHealthy(poolNode(1, { gpus: gpus.slice(0, 1) })).text, /^Warned of: GPU 1\.$/);
  assert.equal(nodeHealthy(poolNode(1, { gpus: [] })).answer, "–");
});

test("what the driver counts is named, and zeros are not", () => {
  const faults = gpuFaults({
    xids: { "79": 1, "45": 11760 },
    ecc_uncorrected: 2,
    ecc_corrected: 0,
    throttle_reasons: ["hardware slowdown"],
  });
  assert.deepEqual(counterTexts(faults), [
    "Xid 45, 11760 times",
    "Xid 79, once",
    "2 uncorrectable ECC errors",
    "clocks held back now: hardware slowdown",
  ]);
  assert.deepEqual(counterTexts(gpuFaults({ ecc_corrected: 0 })), []);
  assert.deepEqual(counterTexts(null), []);
});
