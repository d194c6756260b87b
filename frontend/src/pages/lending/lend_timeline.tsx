/** Lends over time: a row for each lane, coloured by borrower; lends within runs on a thinner track below. */

import type { Lend } from "../../api/schema.ts";
import { NUM_SERIES } from "../../base/series.ts";
import type { Extent } from "../../timeline/view.ts";
import { borrowerOf, borrowers, clockTicks, type LendBar, lendRows } from "./lend_tracks.ts";
import { lenderText, lendTitle } from "./lend_words.ts";

/** The stylesheet's series colours. */
const NUM_TICKS = 6;
/** A bar with less of the window than this has no room for its lender's name. */
const LABELLED_SHARE = 0.09;

interface Props {
  readonly lends: readonly Lend[];
  readonly window: Extent;
  readonly selected: string | null;
  readonly onSelect: (id: string) => void;
}

export function LendTimeline({ lends, window, selected, onSelect }: Props) {
  const numbers = borrowers(lends);
  const rows = lendRows(lends, window);
  const ticks = clockTicks(window, NUM_TICKS);
  const left = (at: number) => `${(100 * (at - window.from)) / (window.to - window.from)}%`;
  const bars = (list: readonly LendBar[], kind: string) =>
    list.map((bar) => (
      <button
        key={bar.lend.id}
        type="button"
        class={`lend-bar ${kind} series-${(numbers.get(borrowerOf(bar.lend)) ?? 0) % NUM_SERIES}`}
        aria-pressed={bar.lend.id === selected}
        title={lendTitle(bar.lend, window.to)}
        style={{ left: `${100 * bar.left}%`, width: `${100 * bar.width}%` }}
        onClick={() => onSelect(bar.lend.id)}
      >
        {bar.returning > 0 && <i class="returning" style={{ width: `${100 * bar.returning}%` }} />}
        {kind === "between" && bar.width >= LABELLED_SHARE && <span>{lenderText(bar.lend)}</span>}
      </button>
    ));
  return (
    <div class="lend-timeline">
      <ul class="lend-legend" aria-label="Borrowers">
        {[...numbers].map(([borrower, number]) => (
          <li key={borrower}>
            <i class={`swatch series-${number % NUM_SERIES}`} aria-hidden="true" />
            {lends.find((lend) => borrowerOf(lend) === borrower)?.run_name}
          </li>
        ))}
        <li>
          <i class="swatch asked-back" aria-hidden="true" /> asked back
        </li>
      </ul>
      <div class="lend-rows">
        {rows.map(({ lane, between, within }) => (
          <div key={lane} class="lend-row">
            <span class="lend-lane small" title={lane}>
              {lane}
            </span>
            <div class="lend-track">
              {ticks.map(({ at }) => (
                <i key={at} class="lend-tick" style={{ left: left(at) }} />
              ))}
              {bars(between, "between")}
              {bars(within, "within")}
            </div>
          </div>
        ))}
        <div class="lend-row axis" aria-hidden="true">
          <span />
          <div class="lend-axis num">
            {ticks.map(({ at, label }) => (
              <span key={at} style={{ left: left(at) }}>
                {label}
              </span>
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}
