/** The settings in which the compared runs differ, one row each. */

import { differences, isObject, type Json } from "../../base/paths.ts";
import { inWords } from "../../base/spec_words.ts";
import { Empty } from "../../ui/states.tsx";
import type { ComparedRun } from "./compared_run.ts";

/** Lists longer than this are counted instead of written out. */
const MAX_ENTRIES = 3;

export function DifferingSettings({ runs }: { runs: readonly ComparedRun[] }) {
  const differing = differences(runs.map((compared) => compared.run.spec).filter(isObject));
  const text = (value: Json | undefined) =>
    Array.isArray(value) && value.length > MAX_ENTRIES && !value.some(isObject)
      ? `${value.length} entries`
      : inWords(value ?? null);
  return (
    <section class="card flush" aria-label="Settings that differ">
      <div class="card-head">
        <h2>Settings that differ</h2>
      </div>
      {differing.length === 0 ? (
        <Empty title="All settings are the same" />
      ) : (
        <div class="table-wrap">
          <table>
            <thead>
              <tr>
                <th>Setting</th>
                {runs.map(({ run, colour }) => (
                  <th key={run.id} style={{ color: `var(${colour})` }}>
                    {run.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {differing.map(({ path, values }) => (
                <tr key={path}>
                  <td class="mono">{path}</td>
                  {values.map((value, index) => (
                    <td key={index} class="num mono" title={JSON.stringify(value)}>
                      {text(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
