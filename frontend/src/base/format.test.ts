import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, bytes, clock, duration, number, percent, roughly, spelt, unixSeconds, words } from "./format.ts";

test("numbers keep three significant digits and go exponential when small", () => {
  assert.equal(number(0.123456), "0.123");
  assert.equal(number(12345), "12,345");
  assert.equal(number(0.00001234), "1.2e-5");
  assert.equal(number(0), "0");
});

test("what is not a number is a dash, never NaN", () => {
  for (const nothing of [null, undefined, NaN, Infinity]) {
    assert.equal(number(nothing), "–");
    assert.equal(percent(nothing), "–");
    assert.equal(duration(nothing), "–");
    assert.equal(bytes(nothing), "–");
  }
});

test("durations choose their unit", () => {
  assert.equal(duration(0), "0 s");
  assert.equal(duration(0.0000005), "1 µs");
  assert.equal(duration(0.042), "42 ms");
  assert.equal(duration(9.94), "9.9 s");
  assert.equal(duration(65), "1 min 05 s");
  assert.equal(duration(7265), "2 h 01 min");
  assert.equal(duration(100000), "1 d 3 h");
});

test("ages are coarse", () => {
  assert.equal(ago(2), "just now");
  assert.equal(ago(59), "59 s ago");
  assert.equal(ago(7200), "2 h ago");
});

test("sizes use binary units", () => {
  assert.equal(bytes(512), "512 B");
  assert.equal(bytes(1536), "1.5 KiB");
  assert.equal(bytes(9_000_000), "8.6 MiB");
});

test("times come as ISO text or Unix seconds", () => {
  assert.equal(unixSeconds("1970-01-01T00:01:00Z"), 60);
  assert.equal(unixSeconds(60), 60);
  assert.equal(unixSeconds("soon"), null);
});

test("identifiers become words", () => {
  assert.equal(words("jpeg_compressibility"), "JPEG compressibility");
  assert.equal(words("shape_match"), "Shape match");
  assert.equal(spelt("shape_match"), "shape match");
  assert.equal(words("clip_score"), "CLIP score");
});

test("a share is a percentage, with the decimals asked for", () => {
  assert.equal(percent(0.4235), "42 %");
  assert.equal(percent(0.4235, 1), "42.4 %");
});

test("stretches nobody knows exactly are rounded as coarsely", () => {
  assert.deepEqual([38, 640, 7900].map(roughly), ["40 s", "11 min", "2 h 10 min"]);
  assert.deepEqual([3590, 86_300, 90_000, 274_000].map(roughly), ["1 h 0 min", "1 d 0 h", "1 d 1 h", "3 d 4 h"]);
});

test("clock times name the day unless it is today", () => {
  const now = Date.now() / 1000;
  assert.match(clock(now), /^\d\d:\d\d:\d\d$/);
  assert.match(clock(now, false), /^\d\d:\d\d$/);
  assert.match(clock(0), /^1 Jan \d\d:\d\d:\d\d$/);
  assert.equal(clock(null), "–");
});

test("numbers round to their significant digits, not to decimals", () => {
  assert.deepEqual(
    [1234.5, 12.345, 0.00123, -0.5, 2e7].map((value) => number(value)),
    ["1,235", "12.3", "0.00123", "-0.5", "2.0e7"],
  );
  assert.equal(number(0.123456, 5), "0.12346");
});

test("long stretches are written in two units", () => {
  assert.deepEqual([59.9, 3599, 86_399].map(duration), ["59 s", "59 min 59 s", "23 h 59 min"]);
  assert.equal(duration(-1), "–");
});

test("ages cross their units where people expect", () => {
  assert.deepEqual([60, 3599, 86_400, Number.NaN].map(ago), ["1 min ago", "59 min ago", "1 d ago", "–"]);
});
