/** The files of a saved version: commands that fetch and load its weights, checksums, and where its checkpoint lies. */

import { useState } from "preact/hooks";
import type { Adapter, Run } from "../../api/schema.ts";
import { bytes } from "../../base/format.ts";
import { CopyButton, Segmented } from "../../ui/controls.tsx";
import type { SavedVersion } from "./saved_versions.ts";
import { archiveCommand, filesCommand, loadCode } from "./snippets.ts";

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

/** What is under a version's row. */
export function VersionFiles({ run, version }: { run: Run; version: SavedVersion }) {
  const { adapter, checkpoint } = version;
  return (
    <div class="version stack-s">
      {adapter && <Weights run={run} adapter={adapter} />}
      {checkpoint && (
        <p class="tiny faint">
          Resumable checkpoint, after optimizer step {checkpoint.optimizer_step}:{" "}
          <span class="mono">{checkpoint.uri}</span>
        </p>
      )}
    </div>
  );
}

function Weights({ run, adapter }: { run: Run; adapter: Adapter }) {
  const [snippet, setSnippet] = useState<SnippetName>("archive");
  const text: Record<SnippetName, () => string> = {
    archive: () => archiveCommand(location.origin, adapter),
    files: () => filesCommand(location.origin, adapter),
    load: () => loadCode(run.spec, adapter),
  };
  const shown = text[snippet]();
  return (
    <>
      {adapter.files.length > 1 && <Files adapter={adapter} />}
      <div class="row-between">
        <Segmented label="Commands" choices={SNIPPETS} value={snippet} onChange={setSnippet} />
        <CopyButton text={shown} />
      </div>
      <pre class="code" tabIndex={0}>
        {shown}
      </pre>
      <p class="tiny faint">
        {NOTES[snippet]} SHA-256{adapter.files.length > 1 ? " of the listing of all files" : ""}:{" "}
        <span class="mono">{adapter.sha256}</span>
      </p>
    </>
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
