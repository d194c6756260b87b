/** The errors of the run, those with the same message together, each with the way to where it stands in the log. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { LogError } from "../../api/schema.ts";
import { useLiveResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";

/** Errors that are shown at once: those of one bad hour, and the log is still on the screen. */
const FIRST_SHOWN = 4;
/** Sources that are named of one error. */
const SOURCES_NAMED = 3;

interface Props extends RunProps {
  readonly timeText: (at: number) => string;
  readonly onOpen: (streamSeq: number) => void;
}

export function LogErrors({ store, run, timeText, onOpen }: Props) {
  const [isWhole, setIsWhole] = useState(false);
  const read = useLiveResource(() => api.logErrors(run.id), [run.id], store.logSeq);
  if (read.error !== null) return <Failed message={read.error} onRetry={read.reload} />;
  const errors = read.value ?? [];
  if (errors.length === 0) return null;
  const shown = isWhole ? errors : errors.slice(0, FIRST_SHOWN);
  const total = errors.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class="card log-errors" aria-label="Errors">
      <div class="card-head">
        <h2>{total === 1 ? "1 error" : `${total.toLocaleString("en-GB")} errors`}</h2>
        {errors.length > FIRST_SHOWN && (
          <button type="button" class="button small" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? "Show fewer" : `Show all ${errors.length} kinds`}
          </button>
        )}
      </div>
      <ul>
        {shown.map((error) => (
          <ErrorLine key={error.last_seq} error={error} timeText={timeText} onOpen={onOpen} />
        ))}
      </ul>
    </section>
  );
}

function ErrorLine({ error, timeText, onOpen }: Pick<Props, "timeText" | "onOpen"> & { error: LogError }) {
  const { text, sources, count, first_at, last_at, first_seq, last_seq } = error;
  const place = (at: number, seq: number) => (
    <button type="button" class="link-button num" title="Show it in the log" onClick={() => onOpen(seq)}>
      {timeText(at)}
    </button>
  );
  const others = sources.length - SOURCES_NAMED;
  return (
    <li>
      <span class="log-error-text">{text}</span>
      <span class="tiny muted">
        <span class="mono">{sources.slice(0, SOURCES_NAMED).join(", ")}</span>
        {others > 0 && ` and ${others} more`} ·{" "}
        {count === 1 ? (
          place(last_at, last_seq)
        ) : (
          <>
            {count.toLocaleString("en-GB")} times, first {place(first_at, first_seq)}, last {place(last_at, last_seq)}
          </>
        )}
      </span>
    </li>
  );
}
