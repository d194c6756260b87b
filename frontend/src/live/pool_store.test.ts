import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { FakeSocket, installBrowser, type Requested, settled } from "../testing/browser.ts";
import { poolFrame, poolGpu, poolNode } from "../testing/builders.ts";
import { PoolStore } from "./pool_store.ts";

let requests: Requested[];
let store: PoolStore;
let nodes = [poolNode(1), poolNode(2)];

const FACTS = {
  head_address: "10.0.0.1:6379",
  join_command: "python -m worker.node join 10.0.0.1:6379",
  agent_started_at: null,
  agent_reported_at: null,
  now: "2026-01-01T00:00:00Z",
};

function answer({ address }: Requested) {
  if (address === "/api/v1/pool") return { json: FACTS };
  if (address === "/api/v1/me") return { json: { id: 1, username: "alice", is_pool_admin: true, is_superuser: false } };
  const ids = new URL(address, "https://tandem.example").searchParams.get("ids")?.split(",").map(Number);
  return { json: { next: null, results: nodes.filter(({ id }) => ids?.includes(id) ?? true) } };
}

beforeEach(() => {
  nodes = [poolNode(1), poolNode(2)];
  requests = installBrowser(answer);
  store = new PoolStore();
  store.start();
});
afterEach(() => store.stop());

const asked = () => requests.map(({ address }) => address).filter((address) => address.startsWith("/api/v1/nodes"));

async function opened() {
  FakeSocket.last.accept();
  FakeSocket.last.send(poolFrame({ changed: null }));
  await settled(20);
}

test("everything is read once the socket's first frame has come, so that nothing is missed between", async () => {
  await settled(20);
  assert.deepEqual(asked(), []);
  await opened();
  assert.deepEqual(asked(), ["/api/v1/nodes"]);
  assert.equal(store.nodes.value.length, 2);
  assert.deepEqual([store.loaded.value, store.mayAct.value, store.connection.value], [true, true, "live"]);
});

test("nodes that a burst of frames names are read together, and no other", async () => {
  await opened();
  nodes = [poolNode(1, { state: "draining" }), poolNode(2)];
  for (const changed of [[1], [1], [2]]) FakeSocket.last.send(poolFrame({ changed }));
  await settled(400);
  assert.deepEqual(asked().slice(1), ["/api/v1/nodes?ids=1%2C2"]);
  assert.equal(store.nodes.value[0]?.state, "draining");
});

test("values of a frame are shown without a read", async () => {
  await opened();
  const gpus = { ids: [1], values: { utilisation: [0.25] } };
  FakeSocket.last.send(poolFrame({ reported_at: 5e9, gpus }));
  await settled(20);
  assert.equal(store.nodes.value[0]?.gpus[0]?.live?.utilisation, 0.25);
  assert.equal(store.reportedAt.value, 5e9);
  assert.equal(asked().length, 1);
});

test("live values reach every node of a large pool, some with each painted frame", async () => {
  nodes = Array.from({ length: 40 }, (_, id) => poolNode(id + 1, { gpus: [poolGpu(id + 1)] }));
  await opened();
  const ids = nodes.map(({ id }) => id);
  FakeSocket.last.send(poolFrame({ reported_at: 5e9, gpus: { ids, values: { power: ids } } }));
  const known = () => store.nodes.value.filter(({ gpus }) => gpus[0]?.live?.power).length;
  await new Promise((resolve) => requestAnimationFrame(resolve));
  assert.ok(known() < 40);
  await settled(50);
  assert.equal(known(), 40);
});

test("a frame that says nothing about the agent leaves it as last heard", async () => {
  await opened();
  FakeSocket.last.send(poolFrame({ reported_at: 5e9 }));
  FakeSocket.last.send(poolFrame({ changed: [1] }));
  await settled(20);
  assert.equal(store.reportedAt.value, 5e9);
});

test("after a break the first frame has everything read again", async () => {
  await opened();
  FakeSocket.last.drop();
  assert.equal(store.connection.value, "reconnecting");
  await settled(500);
  await opened();
  assert.deepEqual(asked(), ["/api/v1/nodes", "/api/v1/nodes"]);
  assert.equal(store.connection.value, "live");
});

test("where no socket opens the pool is read all the same", async () => {
  FakeSocket.last.drop();
  await settled(20);
  assert.equal(store.loaded.value, true);
});

test("a page of one node reads and follows that node alone", async () => {
  store.stop();
  store = new PoolStore([2]);
  store.start();
  await opened();
  assert.deepEqual(asked().slice(-1), ["/api/v1/nodes?ids=2"]);
  assert.deepEqual(
    store.nodes.value.map(({ id }) => id),
    [2],
  );
  FakeSocket.last.send(poolFrame({ changed: [1] }));
  await settled(400);
  const before = asked().length;
  nodes = [poolNode(1), poolNode(2, { state: "draining" })];
  FakeSocket.last.send(poolFrame({ changed: [1, 2] }));
  await settled(400);
  assert.deepEqual(asked().slice(before), ["/api/v1/nodes?ids=2"]);
  assert.equal(store.nodes.value[0]?.state, "draining");
});
