/** Who had the pool's lanes over time, and which were idle or out of service: stacked areas, and the same as a table. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { LaneKind, Occupancy } from "../../api/schema.ts";
import { chosen, readQuery, writeQuery } from "../../base/address.ts";
import { seconds, serverNow } from "../../base/clock.ts";
import { clock, duration, number, percent } from "../../base/format.ts";
import { TimeChart } from "../../charts/time_chart.tsx";
import { Segmented } from "../../ui/controls.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Terms } from "../../ui/term.tsx";
import { areaColour, areaName, inWords, tableRows } from "./areas.ts";

/** By hours of the window: its name, and how many buckets it is cut into: of 5 min, 15 min, 2 h and 6 h. */
const WINDOWS = {
  "6": { label: "6 hours", buckets: 72 },
  "24": { label: "24 hours", buckets: 96 },
  "168": { label: "7 days", buckets: 84 },
  "720": { label: "30 days", buckets: 120 },
} as const;
type Hours = keyof typeof WINDOWS;
const HOURS: readonly [Hours, ...Hours[]] = ["24", "6", "168", "720"];
const KINDS: readonly [LaneKind, ...LaneKind[]] = ["gpu", "cpu"];
const HEIGHT = 320;

export function OccupancyPage() {
  const query = useMemo(readQuery, []);
  const [hours, setHours] = useState(() => chosen(query, "hours", HOURS));
  const [kind, setKind] = useState<LaneKind | undefined>(() => KINDS.find((one) => one === query.kind));
  const [pool, setPool] = useState(query.pool ?? "");
  const pools = useResource(api.pools, []).value ?? [];
  const read = () => {
    const now = serverNow();
    const iso = (unix: number) => new Date(unix * 1000).toISOString();
    const window = { since: iso(now - Number(hours) * 3600), until: iso(now) };
    return api.occupancy(window, WINDOWS[hours].buckets, kind, pool || undefined);
  };
  const { value, error, reload } = useResource(read, [hours, kind, pool, Math.floor(seconds.value / 60)]);
  const show = (next: { hours?: Hours; kind?: LaneKind; pool?: string }) => {
    const all = { hours, kind, pool, ...next };
    setHours(all.hours);
    setKind(all.kind);
    setPool(all.pool);
    writeQuery(all);
  };
  return (
    <>
      <div class="page-head">
        <h1>Occupancy</h1>
        {pools.length > 1 && (
          <select
            aria-label="Pool"
            class="pool-choice"
            value={pool}
            onChange={(event) => show({ pool: event.currentTarget.value })}
          >
            <option value="">All pools</option>
            {pools.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
        <Segmented
          label="Lanes"
          value={value?.kind ?? kind ?? "gpu"}
          choices={[
            { value: "gpu", label: "GPU lanes" },
            { value: "cpu", label: "CPU lanes" },
          ]}
          onChange={(chosenKind) => show({ kind: chosenKind })}
        />
        <Segmented
          label="Window"
          value={hours}
          choices={(["6", "24", "168", "720"] as const).map((one) => ({ value: one, label: WINDOWS[one].label }))}
          onChange={(chosenHours) => show({ hours: chosenHours })}
        />
      </div>
      {error !== null && <Failed message={error} onRetry={reload} />}
      {value === undefined && error === null && <Loading label="Loading the occupancy" />}
      {value && <OccupancyView occupancy={value} />}
    </>
  );
}

export function OccupancyView({ occupancy }: { readonly occupancy: Occupancy }) {
  const [cursor, setCursor] = useState<number | null>(null);
  const { areas, at } = occupancy;
  const series = useMemo(
    () =>
      areas.map((area, index) => ({
        label: areaName(area),
        colour: areaColour(areas, index),
        values: [...area.lanes],
      })),
    [areas],
  );
  if (areas.length === 0) {
    return <Empty title="No lanes in this window">Lanes of this kind are counted from when the pool has them.</Empty>;
  }
  const until = Date.parse(occupancy.until) / 1000;
  return (
    <div class="stack">
      <section class="card" aria-label="Lanes over time">
        <p class="small muted">
          <Terms>
            A lane counts for the project that holds it. One that nobody holds is idle, or out of service by the state
            of its node, its GPUs or itself.
          </Terms>
        </p>
        <TimeChart
          at={at}
          until={until}
          series={series}
          shape="areas"
          height={HEIGHT}
          syncKey="occupancy"
          label={inWords(occupancy)}
          onCursor={setCursor}
        />
        <AreaList occupancy={occupancy} bucket={cursor} />
      </section>
      <details class="card">
        <summary>The same as a table</summary>
        <OccupancyTable occupancy={occupancy} />
      </details>
    </div>
  );
}

/** Each area with its lanes under the pointer, and its share of the window. */
function AreaList({ occupancy, bucket }: { readonly occupancy: Occupancy; readonly bucket: number | null }) {
  const { areas, at, bucket_seconds } = occupancy;
  const all = areas.reduce((sum, area) => sum + area.lane_hours, 0);
  const index = bucket ?? at.length - 1;
  const length = duration(bucket_seconds).replace(/ 00 (min|s)$/, "");
  const lanes = (values: readonly number[]) => number(Math.round((values[index] ?? 0) * 100) / 100);
  const total = areas.reduce((sum, area) => sum + (area.lanes[index] ?? 0), 0);
  return (
    <div class="table-wrap">
      <table class="area-list">
        <thead>
          <tr>
            <th>
              <span class="visually-hidden">Lanes of</span>
            </th>
            <th class="right">
              {bucket === null ? `Lanes, last ${length}` : `Lanes, ${length} from ${clock(at[index] ?? null, false)}`}
            </th>
            <th class="right">Lane hours</th>
            <th class="right">Share</th>
          </tr>
        </thead>
        <tbody>
          {areas.map((area, which) => (
            <tr key={`${area.category}${area.key}`}>
              <th scope="row">
                <i class="swatch" style={{ background: `var(${areaColour(areas, which)})` }} />
                {areaName(area)}
              </th>
              <td class="right num">{lanes(area.lanes)}</td>
              <td class="right num">{number(area.lane_hours)}</td>
              <td class="right num">{percent(all === 0 ? 0 : area.lane_hours / all, 1)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All lanes</th>
            <td class="right num">{number(Math.round(total * 100) / 100)}</td>
            <td class="right num">{number(all)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function OccupancyTable({ occupancy }: { readonly occupancy: Occupancy }) {
  return (
    <div class="table-wrap">
      <table>
        <thead>
          <tr>
            <th>From</th>
            {occupancy.areas.map((area) => (
              <th key={`${area.category}${area.key}`} class="right">
                {areaName(area)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tableRows(occupancy).map(({ at, lanes }) => (
            <tr key={at}>
              <th scope="row" class="num">
                {clock(at, false)}
              </th>
              {lanes.map((value, index) => (
                <td key={occupancy.areas[index]?.key} class="right num">
                  {number(Math.round(value * 100) / 100)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
