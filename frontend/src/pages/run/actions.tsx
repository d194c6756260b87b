/** Buttons for what can be done with a run now: the server lists the legal actions, the reader's role allows them. */

import type { ComponentChildren, TargetedMouseEvent, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { ActionKind, CommandKind, Run } from "../../api/schema.ts";
import { hasEnded } from "../../base/run_state.ts";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { mayEdit, type RunProps } from "./context.ts";
import { ResizeDialog } from "./resize_dialog.tsx";

interface ActionWords {
  readonly label: string;
  readonly done: string;
  readonly title: string;
  readonly confirm?: string;
}

const ACTIONS: Readonly<Record<CommandKind, ActionWords>> = {
  pause: { label: "Pause", done: "Pausing after the current work.", title: "Keeps the lanes for ten minutes." },
  resume: { label: "Resume", done: "Resuming.", title: "Goes on where it paused, or from its last checkpoint." },
  sample_now: {
    label: "Sample now…",
    done: "The pictures come under Samples, “On request”.",
    title: "Draw pictures with the current policy.",
  },
  checkpoint_now: {
    label: "Checkpoint now",
    done: "A checkpoint will be written.",
    title: "Write a resumable checkpoint.",
  },
  resize: {
    label: "Resize…",
    done: "The driver has been told; the Pipeline tab shows how far it is.",
    title: "Add lanes, release lanes, or change their roles while the run works.",
  },
  stop: {
    label: "Stop",
    done: "Stopping: checkpoint and export first.",
    title: "Checkpoint, export the trained weights, then end.",
    confirm: "The run writes a checkpoint and its LoRA, then ends as stopped. Resume goes on from there.",
  },
  cancel: {
    label: "Cancel",
    done: "Cancelling.",
    title: "End at once, keep nothing new.",
    confirm: "The run ends at once, without a checkpoint. What it has reported so far stays.",
  },
};

const ORDER: readonly CommandKind[] = ["pause", "resume", "sample_now", "checkpoint_now", "resize", "stop", "cancel"];

/** What opens a dialog before anything is done. */
type DialogName = "stop" | "cancel" | "delete" | "sample_now" | "resize";
const ASKS_FIRST = new Map<CommandKind, DialogName>([
  ["stop", "stop"],
  ["cancel", "cancel"],
  ["sample_now", "sample_now"],
  ["resize", "resize"],
]);

export function Actions({ store, run }: RunProps) {
  const [openDialog, setOpenDialog] = useState<DialogName | null>(null);
  const [busy, setBusy] = useState(false);
  const editable = mayEdit(run);

  const doIt = async (work: () => Promise<unknown>, done?: string) => {
    setBusy(true);
    await attempt(work, done);
    setBusy(false);
    await store.refreshRun();
  };
  const act = (action: ActionKind, prompts: readonly string[] = []) =>
    void doIt(() => api.act(run.id, action, prompts), ACTIONS[action].done);
  const button = (action: CommandKind, classes: string) => {
    if (!run.legal_actions.includes(action)) return null;
    const dialog = ASKS_FIRST.get(action);
    return (
      <button
        key={action}
        type="button"
        class={`${classes} ${action === "cancel" ? "danger" : ""}`}
        title={ACTIONS[action].title}
        disabled={busy || !editable}
        onClick={() => (dialog ? setOpenDialog(dialog) : action !== "resize" && act(action))}
      >
        {ACTIONS[action].label}
      </button>
    );
  };
  const duplicate = () =>
    void doIt(async () => {
      const copy = await api.duplicateRun(run.id);
      location.assign(`/runs/${copy.id}`);
    });
  const archived = run.archived_at !== null;
  const archive = () =>
    void doIt(() => api.patchRun(run.id, { archived: !archived }), archived ? "Back in the list." : "Archived.");
  const remove = () =>
    void doIt(async () => {
      await api.deleteRun(run.id);
      location.assign("/runs");
    });

  return (
    <div class="row run-actions">
      {ORDER.map((action) => button(action, "button"))}
      <MoreMenu
        run={run}
        commands={ORDER.map((action) => button(action, "only-phone"))}
        disabled={!editable || busy}
        onDuplicate={duplicate}
        onArchive={archive}
        onDelete={() => setOpenDialog("delete")}
      />
      {openDialog === "sample_now" && (
        <SampleNow onSample={(prompts) => act("sample_now", prompts)} onClose={() => setOpenDialog(null)} />
      )}
      {openDialog === "resize" && (
        <ResizeDialog
          store={store}
          run={run}
          onResize={(request) => void doIt(() => api.resize(run.id, request), ACTIONS.resize.done)}
          onClose={() => setOpenDialog(null)}
        />
      )}
      {(openDialog === "stop" || openDialog === "cancel") && (
        <Confirm
          title={`${ACTIONS[openDialog].label} “${run.name}”?`}
          text={ACTIONS[openDialog].confirm ?? ""}
          action={`${ACTIONS[openDialog].label} the run`}
          onConfirm={() => act(openDialog)}
          onClose={() => setOpenDialog(null)}
        />
      )}
      {openDialog === "delete" && (
        <Confirm
          title={`Delete “${run.name}”?`}
          action="Delete for good"
          text="Its curves, samples, logs, LoRA files and checkpoints are deleted with it. This cannot be undone."
          onConfirm={remove}
          onClose={() => setOpenDialog(null)}
        />
      )}
    </div>
  );
}

interface MenuProps {
  readonly run: Run;
  /** The buttons beside the menu, which a phone has no room for. */
  readonly commands: ComponentChildren;
  readonly disabled: boolean;
  readonly onDuplicate: () => void;
  readonly onArchive: () => void;
  readonly onDelete: () => void;
}

function MoreMenu({ run, commands, disabled, onDuplicate, onArchive, onDelete }: MenuProps) {
  const ended = hasEnded(run);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key that presses a button in it makes a click too.
    <details class="menu" onClick={(event) => closeAfterChoice(event)}>
      <summary class="button" aria-label="More actions">
        <span class="not-phone">More ▾</span>
        <span class="only-phone" aria-hidden="true">
          ⋯
        </span>
      </summary>
      <div class="menu-items">
        {commands}
        <a href={`/runs/new?from=${run.id}`}>Edit and rerun…</a>
        <button type="button" disabled={disabled} onClick={onDuplicate}>
          {run.forked_batch === null ? "Duplicate and start" : "Duplicate and start from the base model"}
        </button>
        <a href={`/sweeps/new?from=${run.id}`}>Sweep from this run…</a>
        <a href={`/compare?runs=${run.id}`}>Compare with…</a>
        <a
          href={`/api/v1/runs/${run.id}/report`}
          title="Curves, pictures, lane time, spec and versions in one HTML file that opens without the server."
          download
        >
          Download the report
        </a>
        <a
          href={`/api/v1/runs/${run.id}/schedule`}
          title="All that the scheduler was given and decided, to be replayed with python -m worker.scheduling.replay."
          download
        >
          Download the schedule log
        </a>
        <button type="button" disabled={disabled} onClick={onArchive}>
          {run.archived_at === null ? "Archive" : "Take out of the archive"}
        </button>
        <button
          type="button"
          class="danger"
          disabled={disabled || !ended}
          onClick={onDelete}
          title={ended ? "" : "A run can be deleted once it has ended."}
        >
          Delete…
        </button>
      </div>
    </details>
  );
}

const MAX_PROMPTS = 16;

function SampleNow({ onSample, onClose }: { onSample: (prompts: readonly string[]) => void; onClose: () => void }) {
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get("prompts"));
    const prompts = text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .slice(0, MAX_PROMPTS);
    onClose();
    onSample(prompts);
  };
  return (
    <Dialog title="Sample with the current policy" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <label class="field">
          <span>Own prompts, one a line, at most {MAX_PROMPTS}</span>
          <textarea name="prompts" rows={5} placeholder="empty: the held-out prompts" />
        </label>
        <div class="row" style={{ justifyContent: "flex-end" }}>
          <button type="submit" class="button primary">
            Sample
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A `<details>` menu stays open after a choice by itself. */
function closeAfterChoice(event: TargetedMouseEvent<HTMLDetailsElement>): void {
  const { target, currentTarget: menu } = event;
  if (target instanceof Element && target.closest(".menu-items")) menu.open = false;
}
