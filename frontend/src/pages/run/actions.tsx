/** What can be done with a run now: the server says which actions are legal, roles say who may. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { TERMINAL_STATES, type Run } from "../../api/types.ts";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { mayEdit, type RunProps } from "./context.ts";

interface ActionWords {
  readonly label: string;
  readonly done: string;
  readonly title: string;
  readonly confirm?: string;
}

const ACTIONS: Record<string, ActionWords> = {
  pause: { label: "Pause", done: "Pausing after the current work.", title: "Keeps the lanes for ten minutes." },
  resume: { label: "Resume", done: "Resuming.", title: "Goes on where it paused, or from its last checkpoint." },
  sample_now: { label: "Sample now…", done: "The pictures come under Samples, “Asked for”.", title: "Draw pictures with the current policy." },
  checkpoint_now: { label: "Checkpoint now", done: "A checkpoint will be written.", title: "Write a resumable checkpoint." },
  stop: {
    label: "Stop", done: "Stopping: checkpoint and export first.", title: "Checkpoint, export the trained weights, then end.",
    confirm: "The run writes a checkpoint and its LoRA, then ends as stopped. Resume goes on from there.",
  },
  cancel: {
    label: "Cancel", done: "Cancelling.", title: "End at once, keep nothing new.",
    confirm: "The run ends at once, without a checkpoint. What it has reported so far stays.",
  },
};

type Asked = "stop" | "cancel" | "delete" | "sample_now";

export function Actions({ store, run }: RunProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [busy, setBusy] = useState(false);
  const editable = mayEdit(run);

  const doIt = async (work: () => Promise<unknown>, done?: string) => {
    setBusy(true);
    await attempt(work, done);
    setBusy(false);
    await store.refreshRun();
  };
  const act = (action: string, prompts: readonly string[] = []) =>
    void doIt(() => api.act(run.id, action, prompts), ACTIONS[action]?.done);
  const button = (action: string) => {
    const words = ACTIONS[action];
    if (!words || !run.legal_actions.includes(action)) return null;
    return (
      <button key={action} type="button" class={`button ${action === "cancel" ? "danger" : ""}`} title={words.title}
        disabled={busy || !editable} onClick={() => (words.confirm || action === "sample_now" ? setAsked(action as Asked) : act(action))}>
        {words.label}
      </button>
    );
  };
  const duplicate = () => void doIt(async () => {
    const copy = await api.duplicateRun(run.id);
    location.assign(`/runs/${copy.id}`);
  });
  const archived = run.archived_at !== null;
  const archive = () => void doIt(() => api.patchRun(run.id, { archived: !archived }), archived ? "Back in the list." : "Archived.");
  const remove = () => void doIt(async () => {
    await api.deleteRun(run.id);
    location.assign("/");
  });

  return (
    <div class="row run-actions">
      {["pause", "resume", "sample_now", "checkpoint_now", "stop", "cancel"].map(button)}
      <MoreMenu run={run} disabled={!editable || busy} onDuplicate={duplicate} onArchive={archive} onDelete={() => setAsked("delete")} />
      {asked === "sample_now" && <SampleNow onSample={(prompts) => act("sample_now", prompts)} onClose={() => setAsked(null)} />}
      {(asked === "stop" || asked === "cancel") && (
        <Confirm title={`${ACTIONS[asked]?.label} “${run.name}”?`} text={ACTIONS[asked]?.confirm ?? ""}
          action={`${ACTIONS[asked]?.label} the run`} onConfirm={() => act(asked)} onClose={() => setAsked(null)} />
      )}
      {asked === "delete" && (
        <Confirm title={`Delete “${run.name}”?`} action="Delete for good"
          text="Its curves, samples, logs, LoRA files and checkpoints are deleted with it. This cannot be undone."
          onConfirm={remove} onClose={() => setAsked(null)} />
      )}
    </div>
  );
}

interface MenuProps {
  readonly run: Run;
  readonly disabled: boolean;
  readonly onDuplicate: () => void;
  readonly onArchive: () => void;
  readonly onDelete: () => void;
}

function MoreMenu({ run, disabled, onDuplicate, onArchive, onDelete }: MenuProps) {
  const ended = TERMINAL_STATES.includes(run.state);
  return (
    <details class="menu" onClick={(event) => closeAfterChoice(event)}>
      <summary class="button" aria-label="More actions">More ▾</summary>
      <div class="menu-items">
        <a href={`/runs/new?from=${run.id}`}>Edit and rerun…</a>
        <button type="button" disabled={disabled} onClick={onDuplicate}>Duplicate and start</button>
        <a href={`/compare?runs=${run.id}`}>Compare with…</a>
        <button type="button" disabled={disabled} onClick={onArchive}>
          {run.archived_at === null ? "Archive" : "Take out of the archive"}
        </button>
        <button type="button" class="danger" disabled={disabled || !ended} onClick={onDelete}
          title={ended ? "" : "A run can be deleted once it has ended."}>
          Delete…
        </button>
      </div>
    </details>
  );
}

const MAX_PROMPTS = 16;

function SampleNow({ onSample, onClose }: { onSample: (prompts: readonly string[]) => void; onClose: () => void }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get("prompts"));
    const prompts = text.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, MAX_PROMPTS);
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
        <div class="row" style={{ justifyContent: "flex-end" }}><button class="button primary">Sample</button></div>
      </form>
    </Dialog>
  );
}

/** A `<details>` menu stays open after a choice unless told otherwise. */
function closeAfterChoice(event: MouseEvent): void {
  const menu = event.currentTarget as HTMLDetailsElement;
  if ((event.target as HTMLElement).closest(".menu-items")) menu.open = false;
}
