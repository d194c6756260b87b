/** Tests of GPUs for tests of components. */

import type { GpuTest } from "../api/schema.ts";

export function gpuTest(fields: Partial<GpuTest> = {}): GpuTest {
  return {
    id: "9b2f1c9e-0000-4000-8000-000000000000",
    state: "running",
    requested_by: "alice",
    created_at: "2026-01-01T00:00:00Z",
    started_at: "2026-01-01T00:00:10Z",
    ended_at: null,
    peer: "",
    steps: [],
    reason: "",
    num_repeats: 0,
    operation: "gpu_test-9b2f1c9e-0000-4000-8000-000000000000",
    ...fields,
  };
}
