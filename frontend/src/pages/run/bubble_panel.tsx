/** Where every second of every lane went. Read again at most every few seconds while spans arrive. */

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { BubbleBars } from "../../timeline/legend.tsx";
import type { RunProps } from "./context.ts";

const REFRESH_MILLISECONDS = 4000;

export function BubblePanel({ store, run }: RunProps) {
  const version = store.timeline.version.value;
  const [readFor, setReadFor] = useState(version);
  const bubbles = useResource(() => api.bubbles(run.id), [run.id, readFor]);
  const order = store.timeline.tracks.map((track) => track.lane);
  useEffect(() => {
    if (readFor === version) return undefined;
    const timer = setTimeout(() => setReadFor(store.timeline.version.peek()), REFRESH_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [readFor, version === readFor]);
  return (
    <section class="card" aria-label="Where lane time went">
      <div class="card-head">
        <h2>Where lane time went</h2>
        <span class="tiny faint">Every second of every lane, by class; hatched: idle, with its cause.</span>
      </div>
      {bubbles.error !== null && <Failed message={bubbles.error} onRetry={bubbles.reload} />}
      {bubbles.value ? <BubbleBars bubbles={bubbles.value} order={order} /> : bubbles.error === null && <Loading />}
    </section>
  );
}
