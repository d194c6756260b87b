import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { StreamItem } from "../api/schema.ts";
import { serverNow } from "../base/clock.ts";
import { FakeSocket, installBrowser, settled } from "../testing/browser.ts";
import { logItem } from "../testing/builders.ts";
import { RunSocket } from "./run_socket.ts";

let heard: string[];
let received: StreamItem[];

function open(lastSeq = 7): RunSocket {
  heard = [];
  received = [];
  const socket = new RunSocket("run-1", lastSeq, {
    onItems: (items) => received.push(...items),
    onSnapshot: () => heard.push("snapshot"),
    onConnection: (connection) => heard.push(connection),
    onTraffic: () => undefined,
    onRefused: () => heard.push("refused"),
  });
  socket.open();
  return socket;
}

beforeEach(() => {
  installBrowser();
});

const hello = (now = 1_000_000) => FakeSocket.last.send({ kind: "hello", stream_seq: 7, now });

test("the socket asks for what follows the number it was given", () => {
  open(7);
  assert.equal(FakeSocket.last.address, "wss://tandem.example/ws/v1/runs/run-1?after_seq=7");
});

test("a greeting makes the connection live and sets the server's clock", () => {
  open();
  hello(1_000_000);
  assert.deepEqual(heard, ["connecting", "live"]);
  assert.ok(Math.abs(serverNow() - 1_000_000) < 1);
});

test("after a break it goes on from the last item received", async () => {
  const socket = open();
  hello();
  FakeSocket.last.send({ kind: "items", items: [logItem(8), logItem(9)] });
  FakeSocket.last.drop();
  assert.deepEqual(heard, ["connecting", "live", "reconnecting"]);
  await settled(500);
  assert.equal(FakeSocket.opened.length, 2);
  assert.match(FakeSocket.last.address, /after_seq=9$/);
  assert.deepEqual(
    received.map((item) => item.stream_seq),
    [8, 9],
  );
  socket.close();
});

test("a snapshot moves the number on and asks for everything to be read again", async () => {
  const socket = open();
  FakeSocket.last.send({ kind: "snapshot", stream_seq: 90, run: {}, lanes: [] });
  assert.ok(heard.includes("snapshot"));
  FakeSocket.last.drop();
  await settled(500);
  assert.match(FakeSocket.last.address, /after_seq=90$/);
  socket.close();
});

test("a run that is not the user's to see is given up at once", async () => {
  for (const code of [4404, 4400]) {
    open();
    FakeSocket.last.drop(code);
    await settled(500);
    assert.equal(heard.at(-1), "refused");
  }
  assert.equal(FakeSocket.opened.length, 2, "one for each, none opened again");
});

test("a closed socket stays closed", async () => {
  const socket = open();
  socket.close();
  assert.ok(FakeSocket.last.isClosed);
  FakeSocket.last.drop();
  socket.open();
  await settled(500);
  assert.equal(FakeSocket.opened.length, 1);
  assert.equal(heard.at(-1), "closed");
});
