import assert from "node:assert/strict";
import { test } from "node:test";
import { around, filterOf, isFiltered, partsOf, queryOf, sinceStart, viewOf } from "./log_view.ts";

test("a view goes through its address unchanged, and the usual one needs none", () => {
  const query = "?level=error&source=trainer&kind=commands&search=out+of+memory&time=start&at=17";
  assert.equal(queryOf(viewOf(query)), query);
  assert.equal(queryOf(viewOf("")), "");
  assert.deepEqual(
    [isFiltered(viewOf("")), isFiltered(viewOf(query)), isFiltered(viewOf("?time=start"))],
    [false, true, false],
  );
});

test("what an address cannot mean is as usual", () => {
  assert.deepEqual(viewOf("?level=loud&kind=x&time=noon&at=-1"), viewOf(""));
});

test("a view is asked for by types, and everything has no least level", () => {
  assert.deepEqual(filterOf(viewOf("?kind=commands&level=debug")), {
    level: undefined,
    source: undefined,
    types: "command,command_done",
    search: undefined,
  });
  assert.equal(filterOf(viewOf("")).level, "info");
});

test("around an entry everything is shown, with times as they were", () => {
  const view = around(viewOf("?level=error&source=driver&search=x&time=start"), 5);
  assert.equal(queryOf(view), "?level=debug&time=start&at=5");
});

test("hits are every second part, whatever their case", () => {
  assert.deepEqual(partsOf("Loss is NaN, nan", "nan"), ["Loss is ", "NaN", ", ", "nan", ""]);
  assert.deepEqual(partsOf("none", "x"), ["none"]);
  assert.deepEqual(partsOf("all", ""), ["all"]);
});

test("times since the start are signed", () => {
  assert.deepEqual([sinceStart(172, 100), sinceStart(97, 100)], ["+1 min 12 s", "−3.0 s"]);
});
