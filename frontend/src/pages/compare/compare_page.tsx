/** Up to eight runs side by side: what differs in their settings, what came of it, curves, samples and schedules.
 * The address keeps the runs, those hidden and the curves. */

import { useState } from "preact/hooks";
import { readQuery, writeQuery } from "../../base/address.ts";
import { hasEnded } from "../../base/run_state.ts";
import { StatePill } from "../../ui/controls.tsx";
import { Icon } from "../../ui/icon.tsx";
import { LiveBadge } from "../../ui/live_badge.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { AddRun } from "./add_run.tsx";
import { AlignedSamples } from "./aligned_samples.tsx";
import { type ComparedRun, MAX_COMPARED } from "./compared_run.ts";
import { DifferingSettings } from "./differing_settings.tsx";
import { GroupFigures } from "./group_figures.tsx";
import { FIGURE_KEYS } from "./headline_comparison.ts";
import { useLiveComparison } from "./live_comparison.ts";
import { OverlaidCurves } from "./overlaid_curves.tsx";
import { Schedules } from "./schedules.tsx";
import { seedGroups } from "./seed_groups.ts";

const FIRST_CURVES: readonly string[] = ["reward/mean", "eval/reward", "policy/kl", "speed/images_per_second"];

interface Choice {
  readonly ids: readonly string[];
  readonly hidden: readonly string[];
  readonly keys: readonly string[];
}

function choiceInAddress(): Choice {
  const { runs, hidden, curves } = readQuery();
  const listed = (text: string | undefined) => (text ?? "").split(",").filter(Boolean);
  return {
    ids: [...new Set(listed(runs))].slice(0, MAX_COMPARED),
    hidden: listed(hidden),
    keys: curves === undefined ? FIRST_CURVES : listed(curves),
  };
}

export function ComparePage() {
  const [choice, setChoice] = useState(choiceInAddress);
  const { ids, keys } = choice;
  const read = [...new Set([...FIGURE_KEYS, ...keys])];
  const { answers, reload, connection, heardAt } = useLiveComparison(ids, read);
  const change = (changed: Partial<Choice>) => {
    const next = { ...choice, ...changed };
    const curves = next.keys.join() === FIRST_CURVES.join() ? undefined : next.keys.join();
    writeQuery({ runs: next.ids.join(), hidden: next.hidden.join() || undefined, curves });
    setChoice(next);
  };
  const remove = (id: string) =>
    change({ ids: ids.filter((one) => one !== id), hidden: choice.hidden.filter((one) => one !== id) });
  const runs = (answers ?? []).flatMap((one) => ("run" in one && ids.includes(one.run.id) ? [one] : []));
  const unread = (answers ?? []).flatMap((one) => ("id" in one && ids.includes(one.id) ? [one] : []));
  return (
    <div class="stack compare">
      <div class="page-head">
        <div class="row">
          <h1>Compare</h1>
          {runs.some(({ run }) => !hasEnded(run)) && <LiveBadge connection={connection} heardAt={heardAt} />}
        </div>
        {ids.length < MAX_COMPARED ? (
          <AddRun chosen={ids} onAdd={(id) => change({ ids: [...ids, id] })} />
        ) : (
          <span class="small muted">{MAX_COMPARED} runs at most: remove one to add another.</span>
        )}
      </div>
      {unread.map(({ id, message }) => (
        <Failed key={id} message={`Run ${id} could not be read. ${message}`} onRetry={reload} />
      ))}
      {answers === undefined && <Loading label="Loading the runs" />}
      {ids.length === 0 && (
        <Empty title="No runs chosen">Find them by name above, or tick them in the list of runs.</Empty>
      )}
      {runs.length > 0 && <Compared runs={runs} {...{ choice, change, remove }} />}
    </div>
  );
}

interface ComparedProps {
  readonly runs: readonly ComparedRun[];
  readonly choice: Choice;
  readonly change: (changed: Partial<Choice>) => void;
  readonly remove: (id: string) => void;
}

function Compared({ runs, choice, change, remove }: ComparedProps) {
  const hidden = new Set(choice.hidden);
  const groups = seedGroups(runs);
  const shown = runs.filter(({ run }) => !hidden.has(run.id));
  const toggle = (id: string) =>
    change({ hidden: hidden.has(id) ? choice.hidden.filter((one) => one !== id) : [...choice.hidden, id] });
  return (
    <>
      <RunLegend runs={runs} hidden={hidden} onToggle={toggle} onRemove={remove} />
      {runs.length === 1 && <p class="notice">Add another run to compare with, above.</p>}
      {runs.length > 1 && <DifferingSettings runs={runs} />}
      <GroupFigures groups={groups} hidden={hidden} />
      <OverlaidCurves {...{ runs, groups, hidden, keys: choice.keys }} onKeys={(keys) => change({ keys })} />
      {shown.length > 0 && <AlignedSamples runs={shown} />}
      {shown.length > 0 && <Schedules runs={shown} />}
    </>
  );
}

interface LegendProps {
  readonly runs: readonly ComparedRun[];
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  readonly onRemove: (id: string) => void;
}

/** The runs with their colours; a click hides one in the curves, samples and schedules below. */
function RunLegend({ runs, hidden, onToggle, onRemove }: LegendProps) {
  return (
    <ul class="compare-runs" aria-label="Runs compared">
      {runs.map(({ run, colour }) => (
        <li key={run.id} class={hidden.has(run.id) ? "hidden-run" : ""}>
          <button
            type="button"
            class="compare-toggle"
            aria-pressed={!hidden.has(run.id)}
            title={
              hidden.has(run.id) ? "Show in curves, samples and schedules" : "Hide in curves, samples and schedules"
            }
            onClick={() => onToggle(run.id)}
          >
            <i class="compare-swatch" style={{ background: `var(${colour})` }} />
            <span class="truncate">{run.name}</span>
          </button>
          <StatePill state={run.state} />
          <span class="tiny faint num nowrap">
            {run.num_batches_done} / {run.num_batches}
          </span>
          <a class="small" href={`/runs/${run.id}`} aria-label={`Open ${run.name}`}>
            Open
          </a>
          <button
            type="button"
            class="button quiet small"
            aria-label={`Remove ${run.name}`}
            onClick={() => onRemove(run.id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
