import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_CHOICE } from "../../charts/tools.tsx";
import { type MetricsView, queryOf, viewOf } from "./metrics_view.ts";

const VIEW: MetricsView = {
  choice: { axis: "step", scale: "log", kernel: "gaussian", smoothing: 0.05 },
  zoom: { from: 120.5, to: 9000 },
  pins: ["reward", "policy/learning_rate"],
  search: "ratio & clip",
};

test("a view comes back from its address as it was", () => {
  assert.deepEqual(viewOf(queryOf(VIEW), DEFAULT_CHOICE), VIEW);
});

test("an address that says nothing shows what the browser remembers, all of it", () => {
  assert.deepEqual(viewOf("", { ...DEFAULT_CHOICE, axis: "wall" }), {
    choice: { ...DEFAULT_CHOICE, axis: "wall" },
    zoom: null,
    pins: [],
    search: "",
  });
});

test("an address that means nothing is no view", () => {
  const { choice, zoom } = viewOf("?axis=moon&scale=&smoothing=-3&window=9~2", DEFAULT_CHOICE);
  assert.deepEqual([choice, zoom], [DEFAULT_CHOICE, null]);
});
