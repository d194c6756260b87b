import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { equivalentPython, literal } from "./python_code.ts";

test("the literal is what Python reads as the same value", () => {
  const value = {
    text: `it's "quoted" \\ and ü`,
    none: null,
    on: true,
    off: false,
    list: [1, 2.5e-7, "x"],
    empty: [],
    at: {},
  };
  const read = execFileSync(
    "python3",
    ["-c", "import ast,json,sys; print(json.dumps(ast.literal_eval(sys.stdin.read())))"],
    {
      input: literal(value),
    },
  );
  assert.deepEqual(JSON.parse(read.toString()), value);
});

test("the code compiles and sends what the button sends, with a token from the environment", () => {
  const code = equivalentPython("http://host", { project: "p", name: "n", spec: { seed: 3 } });
  execFileSync("python3", ["-c", "import sys; compile(sys.stdin.read(), 'code', 'exec')"], { input: code });
  assert.match(code, /"http:\/\/host\/api\/v1\/runs"/);
  assert.match(code, /os\.environ\['TANDEM_TOKEN'\]/);
  assert.match(code, /"seed": 3,/);
});
