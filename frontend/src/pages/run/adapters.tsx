/** The versions that a run saved for use elsewhere: one LoRA file each, or all weights in several files. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Adapter, Run } from "../../api/schema.ts";
import { bytes, number } from "../../base/format.ts";
import { CopyButton, Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import { archiveCommand, filesCommand, loadCode } from "./snippets.ts";

/** Versions listed at first: a run that checkpoints every batch has many. */
const FIRST_SHOWN = 6;
const NUM_COLUMNS = 6;

export function Adapters({ store, run }: RunProps) {
  const [numShown, setNumShown] = useState(FIRST_SHOWN);
  const [opened, setOpened] = useState<number | null>(null);
  const adapters = useResource(() => api.adapters(run.id), [run.id, store.filesVersion.value]);
  const evaluations = store.metrics.curve("eval/reward");
  const rewardAt = (batch: number) => evaluations?.value[evaluations.batch.indexOf(batch)];
  const isFull = run.spec.tuning === "full";
  const found = adapters.value ?? [];
  return (
    <section class="card" aria-label={isFull ? "Trained weights" : "LoRA files"}>
      <div class="card-head">
        <h2>{isFull ? "Trained weights" : "LoRA files"}</h2>
        <span class="tiny faint">{isFull ? "the whole transformer, " : ""}diffusers format, safetensors</span>
      </div>
      {adapters.error !== null && <Failed message={adapters.error} onRetry={adapters.reload} />}
      {adapters.value === undefined && adapters.error === null && <Loading />}
      {adapters.value?.length === 0 && (
        <Empty title={isFull ? "No weights yet" : "No LoRA yet"}>
          {isFull
            ? "They are saved when the run ends or is stopped, and by “Checkpoint now”."
            : "One is saved with every checkpoint, and when the run ends or is stopped."}
        </Empty>
      )}
      {found.length > 0 && (
        <div class="table-wrap">
          <table class="versions">
            <thead>
              <tr>
                <th>Batch</th>
                <th>Version</th>
                <th class="right">Held-out reward</th>
                <th class="right">Size</th>
                <th>SHA-256</th>
                <th />
              </tr>
            </thead>
            <tbody>
              {found.slice(0, numShown).map((adapter) => [
                <VersionRow
                  key={adapter.id}
                  adapter={adapter}
                  reward={rewardAt(adapter.batch)}
                  isOpen={opened === adapter.id}
                  onToggle={() => setOpened(opened === adapter.id ? null : adapter.id)}
                />,
                opened === adapter.id && (
                  <tr key={`${adapter.id}-more`}>
                    <td colSpan={NUM_COLUMNS}>
                      <Version run={run} adapter={adapter} />
                    </td>
                  </tr>
                ),
              ])}
            </tbody>
          </table>
        </div>
      )}
      {found.length > numShown && (
        <button type="button" class="button small" onClick={() => setNumShown(Infinity)}>
          Show earlier ({found.length - numShown} more)
        </button>
      )}
    </section>
  );
}

function VersionRow(props: { adapter: Adapter; reward: number | undefined; isOpen: boolean; onToggle: () => void }) {
  const { adapter } = props;
  const numFiles = adapter.files.length;
  return (
    <tr>
      <td class="num nowrap" data-label="batch">
        {adapter.batch} {adapter.final && <span class="tag on">final</span>}
      </td>
      <td class="num">v{adapter.policy_version}</td>
      <td class="right num" data-label="held-out reward">
        {number(props.reward)}
      </td>
      <td class="right num nowrap">
        {bytes(adapter.num_bytes)}
        {numFiles > 1 && <span class="faint"> in {numFiles} files</span>}
      </td>
      <td
        class="mono hide-narrow"
        title={numFiles > 1 ? `${adapter.sha256}, of the listing of all files` : adapter.sha256}
      >
        {adapter.sha256.slice(0, 12)}
      </td>
      <td>
        <div class="row version-actions">
          <button type="button" class="button small" aria-expanded={props.isOpen} onClick={props.onToggle}>
            Fetch and load
          </button>
          <a class="button small primary" href={adapter.url} download>
            {numFiles > 1 ? "Download all (.tar)" : "Download"}
          </a>
        </div>
      </td>
    </tr>
  );
}

type SnippetName = "archive" | "files" | "load";

const SNIPPETS: readonly { value: SnippetName; label: string }[] = [
  { value: "archive", label: "All at once" },
  { value: "files", label: "File by file" },
  { value: "load", label: "Load it" },
];

const NOTES: Record<SnippetName, string> = {
  archive: "One stream, unpacked while it arrives. TANDEM_TOKEN is a token of yours, made on the account page.",
  files: "Run again, it goes on where it broke off; then every file is checked.",
  load: "Plain diffusers, nothing of Tandem. Put the path of your base model where this has its name in the spec.",
};

function Version({ run, adapter }: { run: Run; adapter: Adapter }) {
  const [snippet, setSnippet] = useState<SnippetName>("archive");
  const text: Record<SnippetName, () => string> = {
    archive: () => archiveCommand(location.origin, adapter),
    files: () => filesCommand(location.origin, adapter),
    load: () => loadCode(run.spec, adapter),
  };
  const shown = text[snippet]();
  return (
    <div class="version stack-s">
      {adapter.files.length > 1 && <Files adapter={adapter} />}
      <div class="row-between">
        <Segmented label="Commands" choices={SNIPPETS} value={snippet} onChange={setSnippet} />
        <CopyButton text={shown} />
      </div>
      <pre class="code" tabIndex={0}>
        {shown}
      </pre>
      <p class="tiny faint">{NOTES[snippet]}</p>
    </div>
  );
}

function Files({ adapter }: { adapter: Adapter }) {
  return (
    <ul class="files" aria-label={`Files of version ${adapter.policy_version}`}>
      {adapter.files.map((file) => (
        <li key={file.path}>
          <a class="mono" href={file.url} download>
            {file.path}
          </a>
          <span class="num nowrap right">{bytes(file.num_bytes)}</span>
          <span class="mono faint" title={file.sha256}>
            {file.sha256.slice(0, 12)}
          </span>
        </li>
      ))}
    </ul>
  );
}
