import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { LogEntry } from "../api/schema.ts";
import { type LogAsked, LogStore } from "./log_store.ts";

const entry = (stream_seq: number): LogEntry => ({
  stream_seq,
  at: stream_seq,
  attempt: 1,
  type: "log",
  level: "info",
  source: "driver",
  text: `line ${stream_seq}`,
});

/** Longer than a store waits before it reads what is new. */
const READ = 450;
const later = () => new Promise((resolve) => setTimeout(resolve, READ));

/** A server with `length` entries that answers as REST does, at most `most` at once. */
class Server {
  readonly asked: LogAsked[] = [];
  isDown = false;

  constructor(
    public length: number,
    private readonly most = 1000,
  ) {}

  readonly read = async (asked: LogAsked) => {
    this.asked.push(asked);
    if (this.isDown) throw new Error("no answer");
    const limit = Math.min(asked.limit, this.most);
    const from = asked.after_seq;
    const all = Array.from({ length: this.length }, (_, index) => entry(index + 1));
    if (from !== undefined) {
      const results = all.slice(from, from + limit);
      const next = results.length === limit ? `http://x/?after_seq=${from + limit}` : null;
      return { next, results };
    }
    const results = all
      .slice(0, (asked.before_seq ?? this.length + 1) - 1)
      .toReversed()
      .slice(0, limit);
    return { next: results.length === limit ? `http://x/?before_seq=${results.at(-1)?.stream_seq}` : null, results };
  };
}

let store: LogStore;
afterEach(() => store.stop());

async function open(server: Server, around?: number): Promise<void> {
  store = new LogStore(server.read);
  store.tell(server.length);
  await store.open({ search: "line" }, around);
}

const seqs = () => store.entries.value.map(({ stream_seq }) => stream_seq);
/** The last `number` entries up to `newest`, as they are shown. */
const upTo = (newest: number, number = newest) =>
  Array.from({ length: number }, (_, index) => newest - number + 1 + index);

test("the newest entries are read with the oldest of them first, and older ones page by page", async () => {
  await open(new Server(250));
  assert.deepEqual(seqs(), upTo(250, 200));
  assert.ok(store.hasOlder.value);
  await Promise.all([store.readOlder(), store.readOlder()]);
  assert.deepEqual(seqs(), upTo(250), "two asks at once read one page");
  assert.equal(store.hasOlder.value, false);
});

test("what the stream grows by is read from the newest known, with the filter, and shown while it is followed", async () => {
  const server = new Server(3);
  await open(server);
  server.length = 5;
  store.tell(4);
  store.tell(5);
  await later();
  assert.deepEqual(seqs(), [1, 2, 3, 4, 5]);
  assert.deepEqual(server.asked.at(-1), { search: "line", after_seq: 3, limit: 500 });
  assert.equal(server.asked.length, 2, "two tellings are one read");
});

test("after a lost connection nothing is missing, however much came meanwhile", async () => {
  const server = new Server(3, 10);
  await open(server);
  server.length = 48;
  store.tell(48);
  await later();
  assert.deepEqual(seqs(), upTo(48));
});

test("a read that failed is made up for by the next", async () => {
  const server = new Server(3);
  await open(server);
  server.isDown = true;
  server.length = 5;
  store.tell(5);
  await later();
  assert.deepEqual(seqs(), [1, 2, 3]);
  server.isDown = false;
  server.length = 6;
  store.tell(6);
  await later();
  assert.deepEqual(seqs(), [1, 2, 3, 4, 5, 6]);
});

test("a read that failed before the stream fell silent is tried again", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const server = new Server(3);
  await open(server);
  server.isDown = true;
  server.length = 4;
  store.tell(4);
  context.mock.timers.tick(READ);
  await new Promise((resolve) => setImmediate(resolve));
  server.isDown = false;
  for (let ticks = 0; ticks < 2; ticks += 1) {
    context.mock.timers.tick(3000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(seqs(), [1, 2, 3, 4]);
});

test("while the reader is away from the newest end, new entries come below and are counted", async () => {
  const server = new Server(3);
  await open(server);
  store.follow(false);
  server.length = 5;
  store.tell(5);
  await later();
  assert.deepEqual([seqs(), store.numNew.value], [[1, 2, 3, 4, 5], 2]);
  store.follow(true);
  assert.equal(store.numNew.value, 0);
});

test("an entry that is looked up stands among its neighbours, and the rest is read on to the newest end", async () => {
  const server = new Server(600);
  await open(server, 300);
  assert.deepEqual(seqs(), upTo(399, 300));
  assert.equal(store.hasNewest.value, false);
  await store.readNewer();
  assert.deepEqual(seqs(), upTo(599, 500));
  await store.readNewer();
  assert.deepEqual([seqs(), store.hasNewest.value], [upTo(600, 501), true]);
  server.length = 601;
  store.tell(601);
  await later();
  assert.equal(seqs().at(-1), 601, "and grows from there");
});

test("from an entry that was looked up the newest are one step away", async () => {
  await open(new Server(600), 300);
  await store.toNewest();
  assert.deepEqual([seqs(), store.hasNewest.value], [upTo(600, 200), true]);
});

test("a log that is followed for long is bounded, and its older part can be read again", async () => {
  const server = new Server(3000);
  await open(server);
  for (let pages = 0; pages < 20; pages += 1) await store.readOlder();
  assert.equal(seqs().length, 3000);
  server.length = 4500;
  store.tell(4500);
  await later();
  assert.deepEqual(seqs(), upTo(4500, 4000));
  await store.readOlder();
  assert.deepEqual(seqs(), upTo(4300, 4000), "what is far below the reader makes room");
  assert.equal(store.hasNewest.value, false);
  await store.readNewer();
  assert.deepEqual([seqs(), store.hasNewest.value], [upTo(4500, 4000), false]);
  await store.readNewer();
  assert.deepEqual([seqs(), store.hasNewest.value], [upTo(4500, 4000), true]);
});

test("what comes while the reader is far above stays on the server once too much is kept", async () => {
  const server = new Server(3800);
  await open(server);
  for (let pages = 0; pages < 20; pages += 1) await store.readOlder();
  store.follow(false);
  server.length = 4700;
  store.tell(4700);
  await later();
  assert.deepEqual([seqs(), store.hasNewest.value], [upTo(4000), false]);
  const numAsked = server.asked.length;
  store.tell(4800);
  await later();
  assert.equal(server.asked.length, numAsked, "nothing more is read");
  await store.toNewest();
  assert.deepEqual([seqs(), store.numNew.value], [upTo(4700, 200), 0]);
});

test("an answer that was overtaken by another filter is dropped", async () => {
  const server = new Server(3);
  store = new LogStore(async (asked) => {
    if (asked.search === "slow") await later();
    return asked.search === "slow" ? { next: null, results: [entry(99)] } : server.read(asked);
  });
  const slow = store.open({ search: "slow" });
  await store.open({});
  await slow;
  assert.deepEqual(seqs(), [1, 2, 3]);
});
