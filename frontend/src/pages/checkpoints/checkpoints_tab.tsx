/** What a run saves: where it stands among runs forked from each other, its versions, and previews with own prompts. */

import { useRef, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "../run/context.ts";
import { LineagePanel } from "./lineage_panel.tsx";
import { Previews } from "./previews.tsx";
import { savedVersions } from "./saved_versions.ts";
import { VersionsTable } from "./versions_table.tsx";

export function CheckpointsTab(props: RunProps) {
  const { store, run } = props;
  const [previewed, setPreviewed] = useState<number | null>(null);
  const previews = useRef<HTMLDivElement>(null);
  const saved = useResource(
    () => Promise.all([api.checkpoints(run.id), api.adapters(run.id)]),
    [run.id, store.filesVersion.value, run.state],
  );
  const versions = saved.value && savedVersions(...saved.value);
  const preview = (adapterId: number) => {
    setPreviewed(adapterId);
    previews.current?.scrollIntoView({ block: "nearest" });
    previews.current?.querySelector("textarea")?.focus();
  };
  return (
    <div class="stack">
      <LineagePanel {...props} />
      <section class="card" aria-label="Saved versions">
        <div class="card-head">
          <h2>Checkpoints and {run.spec.tuning === "full" ? "weights" : "LoRA files"}</h2>
          <span class="tiny faint">
            the newest {run.spec.checkpoint?.num_kept} checkpoints are kept, and those that runs were forked from
          </span>
        </div>
        {saved.error !== null && <Failed message={saved.error} onRetry={saved.reload} />}
        {versions === undefined && saved.error === null && <Loading />}
        {versions && <VersionsTable {...props} versions={versions} preview={preview} />}
      </section>
      <div ref={previews}>
        {versions && <Previews run={run} versions={versions} chosen={previewed} choose={setPreviewed} />}
      </div>
    </div>
  );
}
