import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { seconds } from "../../base/clock.ts";
import { PoolStore } from "../../live/pool_store.ts";
import { installBrowser } from "../../testing/browser.ts";
import { poolNode } from "../../testing/builders.ts";
import { textOf } from "../../testing/markup.ts";
import { Freshness } from "./freshness.tsx";

let store: PoolStore;

beforeEach(() => {
  installBrowser();
  store = new PoolStore();
  store.connection.value = "live";
  store.heardAt.value = seconds.value;
  store.nodes.value = [poolNode(1)];
});

const said = () => textOf(<Freshness store={store} />);

test("the connection is spoken of first, then the node agent", () => {
  store.reportedAt.value = seconds.value - 20;
  assert.equal(said(), "the node agent is silent: last report 20 s ago");
  store.connection.value = "reconnecting";
  assert.match(said(), /^reconnecting, data from just now/);
  store.connection.value = "connecting";
  assert.equal(said(), "connecting");
});

test("while the connection is lost the age of what is shown is told, whatever the agent did", () => {
  store.reportedAt.value = seconds.value;
  assert.equal(said(), "live");
  store.connection.value = "reconnecting";
  store.heardAt.value = seconds.value - 30;
  assert.equal(said(), "reconnecting, data from 30 s ago");
});

test("a pool with GPUs wants an agent, one of CPU lanes alone does not", () => {
  assert.equal(said(), "no node agent has reported yet");
  store.nodes.value = [poolNode(1, { gpus: [] })];
  assert.equal(said(), "live");
  store.nodes.value = [];
  assert.equal(said(), "no node agent has reported yet");
});
