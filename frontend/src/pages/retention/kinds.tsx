/** A row for each kind of data: what it holds, for how long it is kept, and what of it is past its days. */

import type { ComponentChildren } from "preact";
import type { DeletionPreview, KeptKind } from "../../api/schema.ts";
import { bytes, words } from "../../base/format.ts";
import { days, HOLDS, keptFor } from "./retention_words.ts";

interface Props {
  readonly preview: DeletionPreview;
  readonly kept: readonly KeptKind[];
  /** What stands below the table. */
  readonly children: ComponentChildren;
}

export function Kinds({ preview, kept, children }: Props) {
  const settings = new Map(kept.map(({ kind, setting }) => [kind, setting]));
  return (
    <section class="card flush" aria-label="Kinds of data">
      <div class="table-wrap">
        <table class="retention-table">
          <thead>
            <tr>
              <th>Kind</th>
              <th>Kept</th>
              <th class="right">Runs</th>
              <th class="right">Rows</th>
              <th class="right">Files</th>
              <th class="right">About</th>
              <th>Runs ended</th>
            </tr>
          </thead>
          <tbody>
            {preview.kinds.map((row) => (
              <tr key={row.kind}>
                <th scope="row">
                  {words(row.kind)}
                  <span class="block small muted wide-only">{HOLDS[row.kind]}</span>
                </th>
                <td title={settings.get(row.kind)}>
                  {keptFor(row.days)}
                  <code class="block tiny faint wide-only">{settings.get(row.kind)}</code>
                </td>
                <Count value={row.num_runs} />
                <Count value={row.num_rows} />
                <Count value={row.num_files} />
                <td class={`right num nowrap ${row.num_bytes === 0 ? "faint" : ""}`}>{bytes(row.num_bytes)}</td>
                <td class="num nowrap">{days(row.oldest_ended_at, row.newest_ended_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {children}
    </section>
  );
}

function Count({ value }: { value: number }) {
  return <td class={`right num ${value === 0 ? "faint" : ""}`}>{value.toLocaleString("en-GB")}</td>;
}
