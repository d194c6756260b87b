import assert from "node:assert/strict";
import { test } from "node:test";
import { mirrorFrom } from "./mirror_form.tsx";

test("what is entered is sent; what a kind does not ask for is empty", () => {
  const form = new FormData();
  for (const [name, value] of [
    ["name", "tb"],
    ["kind", "tensorboard"],
    ["place", " shapes "],
  ] as const)
    form.append(name, value);
  assert.deepEqual(mirrorFrom(form, "p1"), {
    project: "p1",
    name: "tb",
    kind: "tensorboard",
    address: "",
    place: "shapes",
    credential: "",
    is_for_every_run: false,
  });
});
