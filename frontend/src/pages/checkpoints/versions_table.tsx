/** The table of what a run saved: for each version how good it is, what is kept of it, and what can be done with it. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Run, SavedCheckpoint } from "../../api/schema.ts";
import { bytes, clock, number } from "../../base/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Empty } from "../../ui/states.tsx";
import { Term } from "../../ui/term.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { mayEdit, type RunProps } from "../run/context.ts";
import { bestVersion, forkAddress, type SavedVersion } from "./saved_versions.ts";
import { VersionFiles } from "./version_files.tsx";

/** Versions listed at first: a run that checkpoints every batch has many. */
const FIRST_SHOWN = 8;
const NUM_COLUMNS = 7;

interface Props extends RunProps {
  readonly versions: readonly SavedVersion[];
  /** Choose the version that previews are drawn with. */
  readonly preview: (adapterId: number) => void;
}

export function VersionsTable({ store, run, versions, preview }: Props) {
  const [numShown, setNumShown] = useState(FIRST_SHOWN);
  const [opened, setOpened] = useState<string | null>(null);
  const curve = store.metrics.curve("eval/reward");
  const heldOut = ({ checkpoint, batch }: SavedVersion) =>
    checkpoint?.held_out_reward ?? curve?.value[curve.batch.indexOf(batch)];
  const best = bestVersion(versions, heldOut);
  if (versions.length === 0)
    return (
      <Empty title="Nothing saved yet">
        Checkpoints come every {run.spec.checkpoint?.every_num_batches ?? "…"} batches, when the run ends or is stopped,
        and by “Checkpoint now”.
      </Empty>
    );
  const weights = run.spec.tuning === "full" ? "Weights" : "LoRA";
  return (
    <>
      <div class="table-wrap">
        <table class="versions">
          <thead>
            <tr>
              <th>Version</th>
              <th class="hide-narrow">Saved</th>
              <th class="right hide-narrow">Training reward</th>
              <th class="right">
                <Term word="held-out reward">Held-out reward</Term>
              </th>
              <th>Checkpoint</th>
              <th class="right">{weights}</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {versions.slice(0, numShown).map((version) => [
              <tr key={version.key}>
                <NameCell version={version} isBest={version === best} />
                <td class="nowrap num hide-narrow">{clock(version.savedAt, false)}</td>
                <td class="right num hide-narrow">{number(version.checkpoint?.training_reward)}</td>
                <td class="right num" data-label="held-out">
                  {number(heldOut(version))}
                </td>
                <td class="nowrap">{version.checkpoint && <Kept checkpoint={version.checkpoint} />}</td>
                <td class="right num nowrap" data-label={weights}>
                  {version.adapter ? bytes(version.adapter.num_bytes) : "–"}
                  {version.adapter && version.adapter.files.length > 1 && (
                    <span class="faint"> in {version.adapter.files.length} files</span>
                  )}
                </td>
                <td>
                  <Actions
                    run={run}
                    version={version}
                    preview={preview}
                    isOpen={opened === version.key}
                    toggle={() => setOpened(opened === version.key ? null : version.key)}
                  />
                </td>
              </tr>,
              opened === version.key && (
                <tr key={`${version.key}-more`}>
                  <td colSpan={NUM_COLUMNS}>
                    <VersionFiles run={run} version={version} />
                  </td>
                </tr>
              ),
            ])}
          </tbody>
        </table>
      </div>
      {versions.length > numShown && (
        <button type="button" class="button small" onClick={() => setNumShown(Infinity)}>
          Show earlier ({versions.length - numShown} more)
        </button>
      )}
    </>
  );
}

function NameCell({ version, isBest }: { version: SavedVersion; isBest: boolean }) {
  return (
    <td class="nowrap">
      <b class="num">v{version.policyVersion}</b>{" "}
      <span class="faint num">
        batch {version.batch}
        {version.attempt > 1 && `, attempt ${version.attempt}`}
      </span>{" "}
      {version.adapter?.final && <span class="tag">final</span>}{" "}
      {isBest && (
        <span class="tag on" title="The highest held-out reward of the versions saved">
          best
        </span>
      )}
    </td>
  );
}

function Kept({ checkpoint }: { checkpoint: SavedCheckpoint }) {
  if (checkpoint.is_kept === false)
    return (
      <span class="faint" title="Its files were removed: the spec keeps the newest, and those that were forked">
        removed
      </span>
    );
  return (
    <span class="num" title={checkpoint.uri}>
      {bytes(checkpoint.num_bytes)}
      {checkpoint.is_kept === null && <span class="faint"> · store does not answer</span>}
    </span>
  );
}

interface ActionProps {
  readonly run: Run;
  readonly version: SavedVersion;
  readonly preview: (adapterId: number) => void;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function Actions({ run, version, preview, isOpen, toggle }: ActionProps) {
  const { adapter, checkpoint } = version;
  const isResumable =
    checkpoint !== null &&
    checkpoint.is_kept !== false &&
    run.state === "stopped" &&
    run.legal_actions.includes("resume") &&
    run.resume_batch === checkpoint.batch &&
    run.attempt === checkpoint.attempt;
  const resume = () => void attempt(() => api.act(run.id, "resume"), "Queued: it goes on from this checkpoint.");
  return (
    <div class="row version-actions">
      {mayEdit(run) && isResumable && (
        <button type="button" class="button small primary" onClick={resume}>
          Resume
        </button>
      )}
      {mayEdit(run) && checkpoint && checkpoint.is_kept !== false && (
        <a
          class="button small"
          href={forkAddress(run.id, checkpoint)}
          title="A new run that begins from this checkpoint"
        >
          Fork
        </a>
      )}
      {mayEdit(run) && adapter && (
        <button type="button" class="button small" onClick={() => preview(adapter.id)}>
          Preview
        </button>
      )}
      {adapter && (
        <a class="button small" href={adapter.url} download>
          {adapter.files.length > 1 ? "Download all (.tar)" : "Download"}
        </a>
      )}
      <button
        type="button"
        class="button quiet small"
        aria-expanded={isOpen}
        aria-label={adapter ? "Fetch and load" : "Address"}
        title={adapter ? "Fetch and load: commands, checksums, addresses" : "Address of the checkpoint"}
        onClick={toggle}
      >
        <Icon name="info" />
      </button>
    </div>
  );
}
