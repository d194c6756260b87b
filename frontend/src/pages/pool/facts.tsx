/** Building blocks of what is known of a GPU, a lane or a node. */

import type { ComponentChildren } from "preact";
import type { PoolGpu, PoolLane, PoolNode } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { duration, number, percent, unixSeconds } from "../../base/format.ts";
import { ageOf, ageText, isStale, type Verdict } from "./pool_words.ts";

export type Fact = readonly [name: string, value: ComponentChildren];

/** Facts as a list; those without a value are left out. */
export function Facts({ of }: { of: readonly Fact[] }) {
  const known = of.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <dl class="kv">
      {known.flatMap(([name, value]) => [<dt key={`${name}:`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}

export function Verdicts({ of }: { of: readonly (readonly [string, Verdict])[] }) {
  return (
    <dl class="pool-verdicts">
      {of.map(([name, { tone, answer, text }]) => (
        <div key={name} class={`pool-verdict ${tone}`}>
          <dt>
            {name} <b>{answer}</b>
          </dt>
          <dd class="small muted">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** "2 s ago", in another colour once it is old. */
export function Age({ of }: { of: string | null }) {
  const now = seconds.value;
  const age = ageOf(of, now);
  if (age === null) return <span class="age stale">never reported</span>;
  return <span class={`age num ${isStale(of, now) ? "stale" : ""}`}>{ageText(age)}</span>;
}

/** The run that holds a lane, where the user may see it. */
export function Holder({ lane }: { lane: PoolLane | undefined }) {
  if (lane === undefined || lane.run_name === "") return <>none</>;
  const since = unixSeconds(lane.held_since);
  return (
    <>
      {lane.run_id === null ? lane.run_name : <a href={`/runs/${lane.run_id}`}>{lane.run_name}</a>}
      {since !== null && <span class="muted"> for {duration(seconds.value - since)}</span>}
    </>
  );
}

export function Meter({ share }: { share: number | null }) {
  return (
    <span class="meter-row">
      <span class="progress" aria-hidden="true">
        <i style={{ width: percent(share).replace(" ", "") }} />
      </span>
      <span class="num">{percent(share)}</span>
    </span>
  );
}

/** What admins wrote about a node or a GPU; a GPU without a price of its own has its node's. */
export function written(of: PoolNode | PoolGpu, priceOfNode: string | null = null): Fact[] {
  const labels = Object.entries(of.labels).map(([name, value]) => (value ? `${name}: ${value}` : name));
  const price = of.price_per_gpu_hour ?? priceOfNode;
  return [
    ["Labels", labels.join(", ")],
    ["Notes", of.notes],
    ["Price", price === null ? null : `${number(Number(price))} a GPU hour`],
  ];
}
