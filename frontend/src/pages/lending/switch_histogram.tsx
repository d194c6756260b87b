/** How long lanes took to join and to leave, over all lends that are shown, by magnitude. */

import type { Lend } from "../../api/schema.ts";
import { duration, number } from "../../base/format.ts";
import { Empty } from "../../ui/states.tsx";
import { quantile, switchBins } from "./lend_measures.ts";

export function SwitchHistogram({ lends }: { lends: readonly Lend[] }) {
  const seconds = lends.flatMap(({ switch_seconds }) => switch_seconds ?? []);
  const bins = switchBins(seconds);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  return (
    <section class="card" aria-label="Switch costs">
      <div class="card-head">
        <h2>Switch costs</h2>
        <span class="tiny faint">seconds of joining and leaving, or of switching roles, of each lend</span>
      </div>
      {bins.length === 0 ? (
        <Empty title="No switch was measured yet" />
      ) : (
        <>
          <p class="small">
            Half of {number(seconds.length)} took up to <b class="num">{duration(quantile(seconds, 0.5))}</b>, 95 % up
            to <b class="num">{duration(quantile(seconds, 0.95))}</b>.
          </p>
          <ol class="switch-bins">
            {bins.map(({ from, to, count }) => (
              <li key={from} title={`${duration(from)} to ${duration(to)}: ${number(count)} lends`}>
                <span class="switch-bar" style={{ height: `${(100 * count) / most}%` }}>
                  {count > 0 && <span class="tiny num">{number(count)}</span>}
                </span>
                <span class="tiny faint num">{duration(from)}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
