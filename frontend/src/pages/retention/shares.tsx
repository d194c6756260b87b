/** Which runs lose what: a row for each run and kind, the run that ended first at the top. */

import { useState } from "preact/hooks";
import type { DeletionPreview } from "../../api/schema.ts";
import { bytes } from "../../base/format.ts";
import { day } from "./retention_words.ts";

const SHOWN_AT_FIRST = 20;

export function Shares({ preview }: { preview: DeletionPreview }) {
  const [isWhole, setWhole] = useState(false);
  if (preview.shares.length === 0) return null;
  const rows = isWhole ? preview.shares : preview.shares.slice(0, SHOWN_AT_FIRST);
  return (
    <section class="card flush" aria-label="Runs">
      <div class="card-head">
        <h2>By run</h2>
        <span class="tiny faint">the first to have ended at the top</span>
      </div>
      <div class="table-wrap">
        <table class="share-table">
          <thead>
            <tr>
              <th>Run</th>
              <th>Project</th>
              <th>Ended</th>
              <th>Kind</th>
              <th class="right">Rows</th>
              <th class="right">Files</th>
              <th class="right">About</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((share) => (
              <tr key={`${share.run_id} ${share.kind}`}>
                <td>{share.run_name}</td>
                <td>{share.project_name}</td>
                <td class="num nowrap">{day(share.ended_at)}</td>
                <td class="nowrap">{share.kind}</td>
                <td class="right num">{share.num_rows.toLocaleString("en-GB")}</td>
                <td class="right num">{share.num_files.toLocaleString("en-GB")}</td>
                <td class="right num nowrap">{bytes(share.num_bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length < preview.shares.length && (
        <p class="card-foot">
          <button type="button" class="button small" onClick={() => setWhole(true)}>
            Show all {preview.shares.length}
          </button>
        </p>
      )}
    </section>
  );
}
