/** The tests of a GPU: the open one with its steps as they end, and those before. */

import { api } from "../../api/endpoints.ts";
import type { GpuTest, PoolGpu } from "../../api/schema.ts";
import { clock, unixSeconds } from "../../base/format.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { TestSteps } from "../pool/test_steps.tsx";

/** Takes no place on the page of a GPU that was never tested. */
export function GpuTests({ gpu }: { readonly gpu: PoolGpu }) {
  const { value = [], error, reload } = useResource(() => api.gpuTests(gpu.id), [gpu.id, gpu.test?.id]);
  // The open test comes with the GPU, which is newer than the list.
  const past = value.filter(({ id }) => id !== gpu.test?.id);
  const [newest, ...older] = gpu.test ? [gpu.test, ...past] : past;
  if (error !== null) return <Failed message={error} onRetry={reload} />;
  if (newest === undefined) return null;
  return (
    <section class="card" aria-label="Tests">
      <div class="card-head">
        <h2>{gpu.test ? "Test" : "Last test"}</h2>
      </div>
      <TestSteps test={newest} />
      {older.length > 0 && (
        <details class="older-tests">
          <summary class="small">
            {older.length} earlier test{older.length === 1 ? "" : "s"}
          </summary>
          {older.map((test) => (
            <details key={test.id}>
              <summary class="small">{summaryOf(test)}</summary>
              <TestSteps test={test} />
            </details>
          ))}
        </details>
      )}
    </section>
  );
}

function summaryOf(test: GpuTest): string {
  return `${clock(unixSeconds(test.created_at))}: ${test.state}${test.reason ? `, ${test.reason}` : ""}`;
}
