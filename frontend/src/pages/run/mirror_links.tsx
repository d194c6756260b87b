/** Where else the run is shown, in the line below its name: a link to each mirror's page, and which of them fail. */

import { api } from "../../api/endpoints.ts";
import type { Run } from "../../api/schema.ts";
import { healthOf, KIND_WORDS, progressWords } from "../../base/mirror_words.ts";
import { useResource } from "../../ui/resource.ts";

export function MirrorLinks({ run }: { run: Run }) {
  const rows = useResource(() => api.runMirrors(run.id), [run.id, run.state]).value ?? [];
  const failing = rows.filter((row) => healthOf(row) === "failing");
  return (
    <>
      {rows.map(
        (row) =>
          row.url && (
            <span key={row.mirror}>
              {" "}
              ·{" "}
              <a href={row.url} target="_blank" rel="noreferrer" title={`${row.name}: ${progressWords(row)}`}>
                {KIND_WORDS[row.kind]}
              </a>
            </span>
          ),
      )}
      {failing.length > 0 && (
        <>
          {" "}
          ·{" "}
          <a class="mirror-failing" href="#spec">
            {failing.map((row) => row.name).join(", ")}: not mirrored
          </a>
        </>
      )}
    </>
  );
}
