import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuHealth, GpuUse } from "../../api/schema.ts";
import { gpuFaults } from "../../testing/builders.ts";
import { attributes, textOf } from "../../testing/markup.ts";
import { HealthList } from "./gpu_health.tsx";
import { Uses } from "./gpu_uses.tsx";

const use = (fields: Partial<GpuUse> = {}): GpuUse => ({
  id: 1,
  lane: "gpu0/gpu-0",
  run_id: "r",
  run_name: "sweep",
  project: "Shapes",
  user: "alice",
  role: "rollout",
  since: "2026-01-01T00:00:00Z",
  until: "2026-01-01T02:30:00Z",
  ...fields,
});

test("a use that may be opened is a link, and others are words", () => {
  const table = (
    <Uses
      uses={[
        use(),
        use({ id: 2, run_id: null, run_name: "a run of another project", project: "another project", user: "" }),
        use({ id: 3, run_id: null, run_name: "", project: "", role: "test" }),
      ]}
    />
  );
  assert.deepEqual(attributes(table, "href"), ["/runs/r"]);
  const text = textOf(table);
  assert.match(text, /sweep Shapes alice rollout .* 2 h 30 min/);
  assert.match(text, /a run of another project another project –/);
});

test("a use that goes on lasts until now", () => {
  assert.match(textOf(<Uses uses={[use({ until: null })]} />), / now /);
});

test("a change of health tells cause, remedy, counts and the run", () => {
  const change: GpuHealth = {
    id: 1,
    at: "2026-01-01T00:00:00Z",
    health: "failed",
    causes: ["Xid 79"],
    remedy: "reset GPU",
    faults: gpuFaults({ xids: { "79": 1 } }),
    run_id: "r",
    run_name: "sweep",
  };
  const text = textOf(<HealthList changes={[change]} />);
  assert.match(text, /failed : Xid 79 \. Recommended: reset GPU Xid 79, once, during sweep/);
  assert.match(textOf(<HealthList changes={[]} />), /healthy since the pool knows it/);
});
