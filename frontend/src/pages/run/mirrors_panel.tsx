/** The run's mirrors: how far each has got, its last error, when it is tried again; and what else could show the run. */

import { useRef } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { MirroredRun, Run } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { number } from "../../base/format.ts";
import { healthOf, KIND_WORDS, nextWords, progressWords } from "../../base/mirror_words.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { mayEdit } from "./context.ts";

/** A mirror is written once a minute; a reader who waits for it sees it soon after. */
const REFRESH_SECONDS = 10;

export function MirrorsPanel({ run }: { run: Run }) {
  const isShown = useRef(false);
  const round = isShown.current ? Math.floor(seconds.value / REFRESH_SECONDS) : 0;
  const rows = useResource(() => api.runMirrors(run.id), [run.id, round]);
  const all = useResource(() => api.mirrors(run.project.id), [run.project.id]);
  if (rows.error !== null) return <Failed message={rows.error} onRetry={rows.reload} />;
  const shown = rows.value ?? [];
  isShown.current = shown.length > 0;
  const others = (all.value ?? []).filter(
    (mirror) => mirror.is_active && shown.every((row) => row.mirror !== mirror.id),
  );
  const add = async (mirror: string, done: string) => {
    if (await attempt(() => api.mirrorRun(run.id, mirror), done)) rows.reload();
  };
  if (shown.length === 0 && (others.length === 0 || !mayEdit(run))) return null;
  return (
    <section class="card" aria-label="Mirrors">
      <div class="card-head">
        <h2>Mirrors</h2>
        {mayEdit(run) && others.length > 0 && (
          <div class="row">
            {others.map((mirror) => (
              <button
                key={mirror.id}
                type="button"
                class="button small"
                onClick={() => void add(mirror.id, `The run is written to ${mirror.name} at once.`)}
              >
                Mirror to {mirror.name}
              </button>
            ))}
          </div>
        )}
      </div>
      {shown.map((row) => (
        <MirrorRow
          key={row.mirror}
          row={row}
          onTryAgain={mayEdit(run) ? () => void add(row.mirror, `${row.name} is tried again.`) : null}
        />
      ))}
    </section>
  );
}

interface RowProps {
  readonly row: MirroredRun;
  /** Null for readers who may not. */
  readonly onTryAgain: (() => void) | null;
}

function MirrorRow({ row, onTryAgain }: RowProps) {
  const health = healthOf(row);
  const leftOut = row.num_pictures_left_out;
  return (
    <article class="setting-row" aria-label={row.name}>
      <div class="setting-row-what">
        <div class="row">
          <b>{row.url ? <MirrorLink row={row} /> : row.name}</b>
          <span class="tag">{KIND_WORDS[row.kind]}</span>
          <span class="small num">{progressWords(row)}</span>
          <span class={`small num mirror-${health}`}>{nextWords(row, seconds.value)}</span>
        </div>
        {row.folder && <div class="mono small muted setting-row-address">{row.folder}</div>}
        {row.error && <p class="small mirror-error">{row.error}</p>}
        {leftOut > 0 && (
          <p class="small muted" title="Not uploaded in time, or not taken there">
            {number(leftOut)} {leftOut === 1 ? "picture" : "pictures"} left out
          </p>
        )}
      </div>
      {health === "failing" && onTryAgain && (
        <button type="button" class="button small" onClick={onTryAgain}>
          Try again
        </button>
      )}
    </article>
  );
}

function MirrorLink({ row }: { row: MirroredRun }) {
  return (
    <a href={row.url} target="_blank" rel="noreferrer">
      {row.name}
    </a>
  );
}
