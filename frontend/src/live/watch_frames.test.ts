import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FakeSocket, installBrowser, settled } from "../testing/browser.ts";
import { watchFrames } from "./watch_frames.ts";

beforeEach(() => {
  installBrowser();
});

test("frames are passed on as they come, and a broken socket is opened again at the same address", async () => {
  const seen: unknown[] = [];
  const stop = watchFrames<number>("/ws/v1/pool", {
    onFrame: (frame) => seen.push(frame),
    onLive: (live) => seen.push(live),
  });
  FakeSocket.last.accept();
  FakeSocket.last.send(1);
  FakeSocket.last.drop();
  await settled(500);
  FakeSocket.last.accept();
  FakeSocket.last.send(2);
  assert.deepEqual(seen, [true, 1, false, true, 2]);
  assert.deepEqual(
    FakeSocket.opened.map(({ address }) => address),
    ["wss://tandem.example/ws/v1/pool", "wss://tandem.example/ws/v1/pool"],
  );
  stop();
});
