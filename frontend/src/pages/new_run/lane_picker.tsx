/** The pool as it is now, in which the lanes of the run are picked: pressing a free one writes the numbers of the form. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { ForecastTimes, Pool, PoolLane, PoolNode, RunningInPool } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { spelt } from "../../base/format.ts";
import { PoolStore } from "../../live/pool_store.ts";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed } from "../../ui/states.tsx";
import { densityOf } from "../pool/cells.ts";
import { bandText, lanesText } from "../queue/queue_words.ts";
import type { FormModel } from "./form_model.ts";
import { NodeLanes } from "./lane_cells.tsx";
import {
  type AskedLanes,
  afterPress,
  askedLanes,
  counted,
  countKinds,
  isFree,
  kindFor,
  nodesOf,
  pathOf,
  ROLES,
  type Role,
} from "./lane_offer.ts";
import { POOL_PATH } from "./pool_choices.ts";

interface Props {
  readonly model: FormModel;
  readonly pools: readonly Pool[];
  readonly starts: ForecastTimes | null | undefined;
}

export function LanePicker({ model, pools, starts }: Props) {
  const store = useMemo(() => new PoolStore(), []);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  const asked = askedLanes(model.spec.value);
  if (store.problem.value !== null) {
    return <Failed message={`The pool could not be read: ${store.problem.value}`} onRetry={() => store.reload()} />;
  }
  return (
    <section class="lane-picker" aria-labelledby="lane-picker-title">
      <div class="row-between">
        <h3 id="lane-picker-title">The pool now</h3>
        <PoolChoice model={model} pools={pools} nodes={store.nodes.value} chosen={asked.pool} />
      </div>
      {store.loaded.value ? (
        <Offer model={model} asked={asked} starts={starts} nodes={nodesOf(store.nodes.value, asked.pool)} />
      ) : (
        <div class="lane-picker-pending" aria-hidden="true" />
      )}
    </section>
  );
}

interface ChoiceProps {
  readonly model: FormModel;
  readonly pools: readonly Pool[];
  readonly nodes: readonly PoolNode[];
  readonly chosen: string;
}

/** The pools that the project may use, with what is free in each; nothing where there is only one. */
function PoolChoice({ model, pools, nodes, chosen }: ChoiceProps) {
  const open = pools.filter((pool) => !pool.kept_out.includes(model.project.value));
  if (open.length < 2) return null;
  const free = (name: string) => nodes.flatMap(({ lanes }) => lanes).filter((one) => one.pool === name && isFree(one));
  return (
    <Segmented
      label="Pool of the lanes"
      value={chosen}
      onChange={(name) => model.set(POOL_PATH, name)}
      choices={open.map(({ name }) => ({ value: name, label: `${name}, ${free(name).length} free` }))}
    />
  );
}

interface OfferProps {
  readonly model: FormModel;
  readonly starts: ForecastTimes | null | undefined;
  readonly asked: AskedLanes;
  /** With the lanes of the pool chosen. */
  readonly nodes: readonly PoolNode[];
}

function Offer({ model, asked, starts, nodes }: OfferProps) {
  const [role, setRole] = useState<Role>("rollout");
  const lanes = nodes.flatMap((node) => node.lanes);
  const marks = counted(lanes, asked);
  const holders = lanes.map(({ held_since, run_id }) => `${held_since} ${run_id}`).join();
  const running = useResource(() => api.runningIn(asked.pool), [asked.pool, holders]);
  if (lanes.length === 0)
    return <p class="small muted">The pool has no lanes: a run waits there until a node joins.</p>;
  const press = (lane: PoolLane) => {
    const change = afterPress(lane, role, lanes, asked);
    if (change !== null) model.set(pathOf(change.role), change.number);
  };
  return (
    <>
      <p class="small" aria-live="polite">
        <Free lanes={lanes} asked={asked} />
        {starts !== undefined && <> {startText(starts)}</>}
      </p>
      <div class="row pick-role">
        <span class="tiny muted">A press on a free lane adds one for</span>
        <Segmented
          label="What a pressed lane is added for"
          value={role}
          onChange={setRole}
          choices={ROLES.map((value) => ({ value, label: spelt(value) }))}
        />
      </div>
      <div class={`pool-map ${densityOf(nodes)}`}>
        {nodes.map((node) => (
          <NodeLanes
            key={node.id}
            {...{ node, marks, press }}
            running={running.value ?? []}
            isOfUse={(lane) => marks.has(lane.id) || kindFor(role, lanes, asked.rewardsOnGpus) === lane.kind}
          />
        ))}
      </div>
      <p class="tiny muted">
        Marked are as many free lanes as the spec asks for. Which ones the run gets is decided when it starts: its
        trainer lanes together where possible, rollout lanes from what is left.
      </p>
      <Returning lanes={lanes} asked={asked} running={running.value ?? []} />
    </>
  );
}

/** When the queue's forecast lets the run start. */
function startText(starts: ForecastTimes | null): string {
  const band = bandText(starts, seconds.value);
  if (band === null) return "When it would start is not known.";
  return band.likely === "any moment"
    ? "It would start at once."
    : `It would likely start ${band.likely} (${band.range}).`;
}

/** How many are asked for and free, by kind. */
function Free({ lanes, asked }: { lanes: readonly PoolLane[]; asked: AskedLanes }) {
  const kinds = countKinds(lanes, asked);
  const wanted = lanesText(Object.fromEntries(kinds.map((one) => [one.kind, one.asked])));
  const missing = kinds.filter((one) => one.asked > one.free);
  if (missing.length === 0) {
    return (
      <>
        Asks for <b>{wanted}</b>: <b class="good">all free now</b>.
      </>
    );
  }
  const more = lanesText(Object.fromEntries(missing.map((one) => [one.kind, one.asked - one.free])));
  return (
    <>
      Asks for <b>{wanted}</b>: <b class="warn">{more} more must come free</b>.
    </>
  );
}

interface ReturningProps {
  readonly lanes: readonly PoolLane[];
  readonly asked: AskedLanes;
  readonly running: readonly RunningInPool[];
}

/** Runs that are named: the queue's page has them all. */
const MOST_RETURNING = 4;

/** Which runs give lanes back, the first to end first; nothing while enough lanes are free. */
function Returning({ lanes, asked, running }: ReturningProps) {
  const isShort = countKinds(lanes, asked).some((one) => one.asked > one.free);
  if (!isShort || running.length === 0) return null;
  const inOrder = [...running].sort((a, b) => (a.ends?.likely ?? "9").localeCompare(b.ends?.likely ?? "9"));
  return (
    <ul class="lanes-returning small" aria-label="When lanes come free">
      {inOrder.slice(0, MOST_RETURNING).map((row, index) => (
        <li key={row.run_id ?? index}>
          <span class="num">{lanesText(row.lanes)}</span> of {row.run_name}:{" "}
          <b>{bandText(row.ends, seconds.value)?.likely ?? "it is not known when"}</b>
        </li>
      ))}
    </ul>
  );
}
