/** Retention, for pool admins: what is kept for how long, what would be deleted now, and its deletion as an operation. */

import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { DeletionPreview } from "../../api/schema.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { Deletions } from "./deletions.tsx";
import { Kinds } from "./kinds.tsx";
import { isUnderWay, sumsOf, sumsText } from "./retention_words.ts";
import { Shares } from "./shares.tsx";

const POLL_MILLISECONDS = 2000;

export function RetentionPage() {
  const policy = useResource(api.retention, []);
  const preview = useResource(api.previewDeletion, []);
  const deletions = useResource(api.deletions, []);
  const [refused, setRefused] = useState<string | null>(null);
  const isBusy = (deletions.value ?? []).some(isUnderWay);
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setInterval(deletions.reload, POLL_MILLISECONDS);
    return () => {
      clearInterval(timer);
      // What is past its days is less now.
      preview.reload();
    };
  }, [isBusy, deletions.reload, preview.reload]);
  const lookAgain = () => {
    setRefused(null);
    preview.reload();
  };
  const remove = async (shown: DeletionPreview) => {
    try {
      setRefused(null);
      await api.deleteShown(shown.id);
    } catch (failure) {
      setRefused(messageOf(failure));
    }
    deletions.reload();
  };
  const error = policy.error ?? preview.error ?? deletions.error;
  return (
    <>
      <div class="page-head">
        <h1>Retention</h1>
        {policy.value && (
          <span class="small muted">
            {policy.value.is_automatic
              ? "The worker deletes every hour what is past its days"
              : "Nothing is deleted until somebody asks for it"}
          </span>
        )}
      </div>
      {error !== null && <Failed message={error} onRetry={lookAgain} />}
      {refused !== null && <Failed message={refused} />}
      {preview.value === undefined && error === null && <Loading label="Counting what is past its days" />}
      <div class="stack">
        {preview.value && policy.value && (
          <Kinds preview={preview.value} kept={policy.value.kinds}>
            <DeleteForm
              preview={preview.value}
              isBusy={isBusy}
              isCounting={preview.loading}
              onLookAgain={lookAgain}
              onDelete={remove}
            />
          </Kinds>
        )}
        {deletions.value && <Deletions operations={deletions.value} onCancelled={deletions.reload} />}
        {preview.value && <Shares preview={preview.value} />}
      </div>
    </>
  );
}

interface FormProps {
  readonly preview: DeletionPreview;
  readonly isBusy: boolean;
  readonly isCounting: boolean;
  readonly onLookAgain: () => void;
  readonly onDelete: (shown: DeletionPreview) => Promise<void>;
}

function DeleteForm({ preview, isBusy, isCounting, onLookAgain, onDelete }: FormProps) {
  // The preview that the dialog shows: a newer one that comes meanwhile is not what was agreed to.
  const [asked, setAsked] = useState<DeletionPreview | null>(null);
  const isEmpty = preview.shares.length === 0;
  return (
    <div class="row-between card-foot">
      <span class="small">
        {isEmpty ? "Nothing is past its days." : `Past their days: ${sumsText(sumsOf(preview))}.`}
        {preview.num_more_shares > 0 && ` ${preview.num_more_shares} more are left for the next deletion.`}
      </span>
      <span class="row">
        <button type="button" class="button" disabled={isCounting} onClick={onLookAgain}>
          {isCounting ? "Counting…" : "Count again"}
        </button>
        <button
          type="button"
          class="button danger"
          disabled={isEmpty || isBusy || isCounting}
          onClick={() => setAsked(preview)}
        >
          Delete what is shown…
        </button>
      </span>
      {asked && (
        <Confirm
          title="Delete what is past its days?"
          text={`${sumsText(sumsOf(asked))}. It cannot be brought back but from a backup. What is left of a run is its curves, evaluations, adapters and records.`}
          action="Delete"
          onConfirm={() => void onDelete(asked)}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  );
}
