import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FakeSocket, installBrowser, settled } from "../testing/browser.ts";
import { run } from "../testing/builders.ts";
import { watchProjects } from "./projects_socket.ts";

let heard: unknown[];
let stop: () => void;

beforeEach(() => {
  installBrowser();
  heard = [];
  stop = watchProjects({
    onRun: (changed) => heard.push(changed.name),
    onReconnected: () => heard.push("again"),
    onLive: (live) => heard.push(live),
  });
});

test("each run that changed is passed on", () => {
  FakeSocket.last.accept();
  FakeSocket.last.send({ kind: "run_changed", run: run({ name: "the demo" }) });
  assert.deepEqual(heard, [true, "the demo"]);
  stop();
});

test("after a break the list is to be read again, but not after the first connection", async () => {
  FakeSocket.last.accept();
  FakeSocket.last.drop();
  assert.deepEqual(heard, [true, false]);
  await settled(500);
  FakeSocket.last.accept();
  assert.deepEqual(heard, [true, false, true, "again"]);
  stop();
});

test("a page that is left opens no socket again", async () => {
  FakeSocket.last.accept();
  stop();
  FakeSocket.last.drop();
  await settled(500);
  assert.equal(FakeSocket.opened.length, 1);
  assert.deepEqual(heard, [true]);
});
