import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { FakeSocket, installBrowser, type Requested, settled } from "../testing/browser.ts";
import { poolFrame, queuedRun } from "../testing/builders.ts";
import { QueueStore } from "./queue_store.ts";

let requests: Requested[];
let store: QueueStore;
const POOLS = ["default", "h100"].map((name) => ({ name, num_waiting: 0, num_lanes: 4 }));

function answer({ address }: Requested) {
  const url = new URL(address, "https://tandem.example");
  if (url.pathname === "/api/v1/me") return { json: { id: 1, username: "alice", is_pool_admin: true } };
  if (url.pathname === "/api/v1/pool-policy") return { json: { pool: "default", half_life_hours: 24 } };
  if (url.pathname === "/api/v1/pools") return { json: { next: null, results: POOLS } };
  const pool = url.searchParams.get("pool") ?? "";
  if (url.pathname === "/api/v1/queue") return { json: { next: null, results: [queuedRun("a", { pool })] } };
  return { json: { next: null, results: [] } };
}

beforeEach(() => {
  requests = installBrowser(answer);
  store = new QueueStore();
  store.start();
});
afterEach(() => store.stop());

const asked = () => requests.map(({ address }) => address).filter((address) => address.startsWith("/api/v1/queue?"));

async function opened() {
  FakeSocket.last.accept();
  FakeSocket.last.send(poolFrame({ changed: null }));
  await settled(30);
}

test("the queue of the first pool is read once the socket's first frame has come", async () => {
  await settled(20);
  assert.deepEqual(asked(), []);
  await opened();
  assert.deepEqual(asked(), ["/api/v1/queue?pool=default&limit=100"]);
  assert.deepEqual([store.loaded.value, store.mayAct.value, store.pool.value], [true, true, "default"]);
});

test("it is read again when a frame says so or lanes have other holders, in one go, and not otherwise", async () => {
  await opened();
  FakeSocket.last.send(poolFrame({ changed: [] }));
  await settled(400);
  assert.equal(asked().length, 1);
  FakeSocket.last.send(poolFrame({ changed: [], queue: true }));
  FakeSocket.last.send(poolFrame({ changed: [7] }));
  await settled(400);
  assert.equal(asked().length, 2);
});

test("another pool is read once it is chosen", async () => {
  await opened();
  store.choose("h100");
  await settled(50);
  assert.equal(asked().at(-1), "/api/v1/queue?pool=h100&limit=100");
  store.readWhole();
  await settled(50);
  assert.equal(asked().at(-1), "/api/v1/queue?pool=h100");
  assert.equal(store.waiting.value[0]?.pool, "h100");
});
