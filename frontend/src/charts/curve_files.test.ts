import assert from "node:assert/strict";
import { test } from "node:test";
import { series } from "../testing/builders.ts";
import { csvOf } from "./curve_files.ts";

test("a table has a line for each point of each metric, under the names of its columns", () => {
  assert.equal(
    csvOf({ "reward/mean": series([1, 2], 0.5), 'eval/part/a,"b"': series([3]) }),
    [
      "metric,batch,optimizer_step,at,value,min,max",
      "reward/mean,1,4,100,1,0.5,1.5",
      "reward/mean,2,8,101,2,1.5,2.5",
      '"eval/part/a,""b""",1,4,100,3,3,3',
      "",
    ].join("\n"),
  );
});
