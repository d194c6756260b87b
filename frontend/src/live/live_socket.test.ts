import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { serverNow } from "../base/clock.ts";
import { FakeSocket, fireBrowserEvent, installBrowser } from "../testing/browser.ts";
import { isLoggedOut, lostSince } from "./connections.ts";
import { LiveSocket } from "./live_socket.ts";

interface Frame {
  readonly kind: "number";
  readonly value: number;
}

let heard: unknown[];
let path: string;
let close: () => void;

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_000_000 });
  installBrowser();
  heard = [];
  path = "/ws/v1/pool";
  isLoggedOut.value = false;
  const socket = new LiveSocket<Frame>(() => path, {
    onFrame: ({ value }) => heard.push(value),
    onConnection: (connection) => heard.push(connection),
    onReconnected: () => heard.push("again"),
  });
  close = socket.open();
});
afterEach(() => {
  close();
  mock.timers.reset();
});

const send = (value: number) => FakeSocket.last.send({ kind: "number", value });
const beat = (now = 5) => FakeSocket.last.send({ kind: "heartbeat", now });
/** Second by second, as timers that a timer starts must begin at their time. */
const pass = (seconds: number) => {
  for (let second = 0; second < seconds; second++) mock.timers.tick(1000);
};

test("the connection is live with the first frame, and frames are passed on as they come", () => {
  FakeSocket.last.accept();
  assert.deepEqual(heard, ["connecting"]);
  send(1);
  send(2);
  assert.deepEqual(heard, ["connecting", "live", 1, 2]);
  assert.equal(FakeSocket.last.address, "wss://tandem.example/ws/v1/pool");
});

test("a heartbeat makes the connection live and sets the server's clock, and is no frame", () => {
  beat(77_000);
  assert.deepEqual(heard, ["connecting", "live"]);
  assert.equal(serverNow(), 77_000);
});

test("after a break it is opened anew at what the address is then, and says that something may be missing", () => {
  send(1);
  path = "/ws/v1/pool?after=1";
  FakeSocket.last.drop();
  pass(1);
  assert.match(FakeSocket.last.address, /after=1$/);
  send(2);
  assert.deepEqual(heard, ["connecting", "live", 1, "reconnecting", "live", "again", 2]);
});

test("a connection that dies without a word is given up after eight seconds, and told of across the page", () => {
  beat();
  pass(7);
  assert.equal(lostSince.value, null);
  pass(1);
  assert.deepEqual(heard, ["connecting", "live", "reconnecting"]);
  assert.equal(lostSince.value, 1000, "since the last heartbeat, not since it was noticed");
  pass(1);
  assert.equal(FakeSocket.opened.length, 2);
  beat();
  assert.equal(lostSince.value, null);
});

test("heartbeats keep a connection on which nothing happens", () => {
  for (let beats = 0; beats < 20; beats++) {
    beat();
    pass(3);
  }
  assert.equal(FakeSocket.opened.length, 1);
});

test("what a connection that was given up still sends is not heard", () => {
  beat();
  const [first] = FakeSocket.opened;
  pass(9);
  first?.send({ kind: "number", value: 13 });
  first?.drop();
  assert.deepEqual(heard, ["connecting", "live", "reconnecting"]);
  assert.equal(FakeSocket.opened.length, 2);
});

test("a server that never answers is asked again and again, at growing intervals", () => {
  pass(60);
  const few = FakeSocket.opened.length;
  assert.ok(few >= 4 && few <= 8, `${few} connections in a minute`);
});

test("a network that is back is used at once, without waiting for the delay", () => {
  beat();
  for (let failures = 0; failures < 6; failures++) {
    FakeSocket.last.drop();
    pass(16);
  }
  FakeSocket.last.drop();
  const before = FakeSocket.opened.length;
  fireBrowserEvent("online");
  assert.equal(FakeSocket.opened.length, before + 1);
  fireBrowserEvent("online");
  assert.equal(FakeSocket.opened.length, before + 1, "one is being opened already");
});

test("a refusal is final: the session has ended", () => {
  for (const code of [4404, 4400]) {
    FakeSocket.last.drop(code);
    pass(30);
    assert.equal(FakeSocket.opened.length, 1);
    assert.equal(isLoggedOut.value, true);
    assert.equal(heard.at(-1), "refused");
  }
});

test("a socket that was closed is never opened again and no longer counts as lost", () => {
  beat();
  FakeSocket.last.drop();
  assert.notEqual(lostSince.value, null);
  close();
  pass(30);
  fireBrowserEvent("online");
  assert.equal(FakeSocket.opened.length, 1);
  assert.equal(lostSince.value, null);
  assert.equal(heard.at(-1), "closed");
});
