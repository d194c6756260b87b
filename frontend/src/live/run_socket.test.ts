import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { StreamItem } from "../api/schema.ts";
import { serverNow } from "../base/clock.ts";
import { FakeSocket, installBrowser, settled } from "../testing/browser.ts";
import { logItem } from "../testing/builders.ts";
import { followRun } from "./run_socket.ts";

let notified: string[];
let received: StreamItem[];
let unfollow: () => void;

beforeEach(() => {
  installBrowser();
  notified = [];
  received = [];
  unfollow = followRun("run-1", 7, {
    onItems: (items) => received.push(...items),
    onSnapshot: () => notified.push("snapshot"),
    onConnection: (connection) => notified.push(connection),
    onRefused: () => notified.push("not visible"),
  });
});
afterEach(() => unfollow());

const hello = (now = 1_000_000) => FakeSocket.last.send({ kind: "hello", stream_seq: 7, now });

test("the socket asks for what follows the number it was given", () => {
  assert.equal(FakeSocket.last.address, "wss://tandem.example/ws/v1/runs/run-1?after_seq=7");
});

test("a greeting makes the connection live and sets the server's clock", () => {
  hello(1_000_000);
  assert.deepEqual(notified, ["connecting", "live"]);
  assert.ok(Math.abs(serverNow() - 1_000_000) < 1);
});

test("after a break it goes on from the last item received", async () => {
  hello();
  FakeSocket.last.send({ kind: "items", items: [logItem(8), logItem(9)] });
  FakeSocket.last.drop();
  assert.deepEqual(notified, ["connecting", "live", "reconnecting"]);
  await settled(500);
  assert.equal(FakeSocket.opened.length, 2);
  assert.match(FakeSocket.last.address, /after_seq=9$/);
  assert.deepEqual(
    received.map((item) => item.stream_seq),
    [8, 9],
  );
});

test("a snapshot moves the number on and asks for everything to be read again", async () => {
  FakeSocket.last.send({ kind: "snapshot", stream_seq: 90, run: {}, lanes: [] });
  assert.ok(notified.includes("snapshot"));
  FakeSocket.last.drop();
  await settled(500);
  assert.match(FakeSocket.last.address, /after_seq=90$/);
});

test("a run that is not the user's to see is given up", () => {
  FakeSocket.last.drop(4404);
  assert.deepEqual(notified, ["connecting", "refused", "not visible"]);
});
