import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, bytes, duration, number, percent, spelt, unixSeconds, words } from "../src/base/format.ts";

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
