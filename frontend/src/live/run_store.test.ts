import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Run, Timeline } from "../api/schema.ts";
import { serverNow } from "../base/clock.ts";
import { FakeSocket, installBrowser, type Requested, settled } from "../testing/browser.ts";
import {
  curvesAnswer,
  laneStartItem,
  logItem,
  metricsItem,
  phaseItem,
  publishItem,
  run,
  series,
  span,
  spansItem,
  timeline,
} from "../testing/builders.ts";
import { RunStore } from "./run_store.ts";

let store: RunStore;
const opened: RunStore[] = [];

afterEach(() => {
  for (const one of opened.splice(0)) one.stop();
});

/** A store that ends with its test: a live one asks again and again. */
function open(): RunStore {
  store = new RunStore("run-1");
  opened.push(store);
  return store;
}

interface Server {
  run: Run;
  timeline: Timeline;
  metricsSeq: number;
  events: readonly ReturnType<typeof laneStartItem>[];
}

/** A server that has one run; returns what was asked of it, and itself to be changed. */
async function start(given: Partial<Server> = {}): Promise<{ requests: Requested[]; server: Server }> {
  const server: Server = { run: run(), timeline: timeline({ stream_seq: 10 }), metricsSeq: 10, events: [], ...given };
  const requests = installBrowser(({ address }) => {
    if (address.endsWith("/runs/run-1")) return { json: server.run };
    if (address.includes("/metrics")) {
      return { json: curvesAnswer({ "reward/mean": series([0.1]) }, server.metricsSeq) };
    }
    if (address.includes("/timeline")) return { json: server.timeline };
    if (address.includes("/events")) return { json: { next: null, results: server.events } };
    return { json: { next: null, results: [] } };
  });
  await open().start();
  return { requests, server };
}

const items = (...sent: readonly object[]) => FakeSocket.last.send({ kind: "items", items: sent });
const numAsked = (requests: readonly Requested[], end: string) =>
  requests.filter(({ address }) => address.endsWith(end)).length;

test("everything is read first, then followed from the smallest number covered", async () => {
  await start({ metricsSeq: 8 });
  assert.ok(store.loaded.value);
  assert.equal(store.run.value?.name, "first");
  assert.match(FakeSocket.last.address, /after_seq=8$/);
});

test("items reach curves, timeline and events once a frame, and raise the number of the log", async () => {
  await start();
  items(
    metricsItem(11, 2, { "reward/mean": 0.2 }),
    spansItem(12, [span({ start: 5 })]),
    logItem(13, "hello"),
    laneStartItem(14),
  );
  assert.equal(store.timeline.lanes.numSpans, 0);
  await settled(5);
  assert.deepEqual(store.metrics.curve("reward/mean")?.value, [0.1, 0.2]);
  assert.equal(store.timeline.lanes.numSpans, 1);
  assert.equal(store.events.items.value.length, 1);
  assert.equal(store.logSeq.value, 14);
});

test("what a snapshot covered is not applied again, part by part", async () => {
  await start({ metricsSeq: 8 });
  items(metricsItem(9, 2, { "reward/mean": 0.2 }), spansItem(10, [span()]));
  await settled(5);
  assert.deepEqual(store.metrics.curve("reward/mean")?.value, [0.1, 0.2], "9 is beyond the curves' 8");
  assert.equal(store.timeline.lanes.numSpans, 0, "10 is within the timeline's 10");
});

test("the page stands as soon as its figures and first curves are there, whatever the timeline takes", async () => {
  let answerTimeline: (given: { json: Timeline }) => void = () => undefined;
  const requests = installBrowser(({ address }) => {
    if (address.endsWith("/runs/run-1")) return { json: run() };
    if (address.includes("/metrics")) return { json: curvesAnswer({ "reward/mean": series([0.1]) }, 10) };
    if (address.includes("/timeline")) {
      return new Promise((resolve) => {
        answerTimeline = resolve;
      });
    }
    return { json: { next: null, results: [] } };
  });
  const started = open().start();
  await settled(5);
  assert.ok(store.loaded.value);
  assert.equal(store.timeline.isLoaded.value, false);
  const asked = requests.find(({ address }) => address.includes("/metrics"))?.address ?? "";
  assert.match(asked, /max_points=500/);
  assert.match(asked, /keys=reward%2Fmean/);
  answerTimeline({ json: timeline({ stream_seq: 10 }) });
  await started;
  assert.ok(store.timeline.isLoaded.value);
});

test("events that came while curves and timeline were read are not lost", async () => {
  await start({ metricsSeq: 8 });
  items(laneStartItem(9), logItem(10));
  await settled(5);
  assert.equal(store.events.items.value.length, 1);
  assert.equal(store.logSeq.value, 10);
});

test("with whatever is received the connection is known to hold", async () => {
  await start();
  store.heardAt.value = 0;
  items(logItem(11));
  assert.ok(Math.abs(store.heardAt.value - serverNow()) < 1);
});

test("panels are notified only of what changed", async () => {
  await start();
  const before = { metrics: store.metrics.version.value, timeline: store.timeline.version.value };
  items(spansItem(11, [span()]));
  await settled(5);
  assert.equal(store.metrics.version.value, before.metrics);
  assert.equal(store.timeline.version.value, before.timeline + 1);
});

test("new samples and files raise the number that their panels watch", async () => {
  await start();
  const before = [store.samplesVersions.train.value, store.samplesVersions.evaluate.value, store.filesVersion.value];
  const body = { purpose: "evaluate", batch: 1, policy_version: 1, samples: [] };
  items(
    { stream_seq: 11, type: "samples", at: 11, attempt: 1, body },
    { stream_seq: 12, type: "checkpoint", at: 12, attempt: 1, body: {} },
  );
  await settled(5);
  const [train = 0, evaluate = 0, files = 0] = before;
  assert.deepEqual(
    [store.samplesVersions.train.value, store.samplesVersions.evaluate.value, store.filesVersion.value],
    [train, evaluate + 1, files + 1],
  );
});

test("progress moves with each published version, before the row is read again", async () => {
  const { requests } = await start();
  const before = numAsked(requests, "/runs/run-1");
  items(publishItem(11, 1), publishItem(12, 2));
  await settled(5);
  assert.equal(store.run.value?.num_batches_done, 2);
  assert.equal(numAsked(requests, "/runs/run-1"), before);
});

test("the row is read once after items that change it", async () => {
  const { requests, server } = await start();
  server.run = run({ phase: "export" });
  items(phaseItem(11));
  await settled(5);
  items(phaseItem(12));
  await settled(450);
  assert.equal(store.run.value?.phase, "export");
  assert.equal(numAsked(requests, "/runs/run-1"), 2);
});

test("log lines and spans do not have the row read again", async () => {
  const { requests } = await start();
  items(logItem(11), spansItem(12, [span()]));
  await settled(450);
  assert.equal(numAsked(requests, "/runs/run-1"), 1);
});

test("a snapshot has everything read again, and items that come meanwhile wait", async () => {
  const { server } = await start();
  server.timeline = timeline({ stream_seq: 50, spans: [span({ start: 1 }), span({ start: 2 })] });
  server.metricsSeq = 50;
  FakeSocket.last.send({ kind: "snapshot", stream_seq: 50, run: {}, lanes: [] });
  items(spansItem(50, [span({ start: 2 })]), spansItem(51, [span({ start: 3 })]));
  await settled(20);
  assert.deepEqual(
    store.timeline.lanes.tracks[0]?.spans.map((one) => one.start),
    [1, 2, 3],
  );
});

test("the newest report is the newest item's time, whatever order they come in", async () => {
  await start();
  items({ ...logItem(11), at: 900 }, { ...logItem(12), at: 800 });
  await settled(5);
  assert.equal(store.lastReport.value, 900);
});

test("a timeline follows the present only while its run is live", async () => {
  await start();
  assert.equal(store.timeline.isLive.value, true);
  assert.equal(store.hasEnded.value, false);
  await start({ run: run({ state: "completed" }) });
  assert.equal(store.timeline.isLive.value, false);
  assert.equal(store.hasEnded.value, true);
});

test("a run that cannot be read says why and opens no socket", async () => {
  installBrowser(() => ({ status: 404 }));
  await open().start();
  assert.match(String(store.problem.value), /may not see it/);
  assert.equal(FakeSocket.opened.length, 0);
});

test("a run that is deleted while it is watched is said to be", async () => {
  await start();
  FakeSocket.last.drop(4404);
  assert.match(String(store.problem.value), /was deleted/);
});

test("a quiet run is read again, since heartbeats send no item; one that ended or is hidden is not", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const asked = async (given: Partial<Server> = {}, hidden = false) => {
    const { requests } = await start({ timeline: timeline({ now: 1000 }), ...given });
    Object.assign(document, { hidden });
    context.mock.timers.tick(5000);
    await settled();
    store.stop();
    return numAsked(requests, "/runs/run-1") - 1;
  };
  assert.equal(await asked(), 1);
  assert.equal(await asked({}, true), 0);
  assert.equal(await asked({ run: run({ state: "stopped" }) }), 0);
});

test("a run that reports is not read again for its heartbeat", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const { requests } = await start({ timeline: timeline({ now: 1000 }) });
  items({ ...logItem(11), at: 999 });
  await settled(5);
  context.mock.timers.tick(5000);
  await settled();
  assert.equal(numAsked(requests, "/runs/run-1"), 1);
});
