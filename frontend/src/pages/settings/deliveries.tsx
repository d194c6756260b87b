/** The messages of a webhook: what each told, how every try went, and a button that sends it again. */

import { useEffect } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Delivery, Webhook } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, clock, duration, unixSeconds } from "../../base/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";

/** How often they are read again while one is about to be sent: a round of sending comes every two seconds. */
const REFRESH_MILLISECONDS = 2000;
/** A message that is due later than this many seconds from now is not watched. */
const SOON_SECONDS = 60;

export function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const rows = useResource(() => api.deliveries(webhook.id), [webhook.id]);
  const isSoon = (rows.value ?? []).some(
    ({ next_try_at }) => next_try_at !== null && (unixSeconds(next_try_at) ?? 0) - Date.now() / 1000 < SOON_SECONDS,
  );
  useEffect(() => {
    if (!isSoon) return undefined;
    const timer = setInterval(rows.reload, REFRESH_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isSoon, rows.reload]);
  const again = async (delivery: Delivery) => {
    if (await attempt(() => api.redeliver(webhook.id, delivery.id))) rows.reload();
  };
  return (
    <Dialog title={`Deliveries of ${webhook.name}`} wide onClose={onClose}>
      {rows.error !== null && <Failed message={rows.error} onRetry={rows.reload} />}
      {rows.value === undefined && rows.error === null && <Loading />}
      {rows.value?.length === 0 && <Empty title="Nothing told yet">Send a test to see whether it arrives.</Empty>}
      <div class="stack-s">
        {(rows.value ?? []).map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} onAgain={() => void again(delivery)} />
        ))}
      </div>
    </Dialog>
  );
}

function DeliveryRow({ delivery, onAgain }: { delivery: Delivery; onAgain: () => void }) {
  const last = delivery.tries.at(-1);
  return (
    <details class="delivery">
      <summary>
        <span class={`delivery-state ${delivery.state}`}>{delivery.state}</span> <b>{delivery.event}</b>{" "}
        <span class="small muted">
          {ago(seconds.value - (unixSeconds(delivery.created_at) ?? 0))}
          {last && ` · ${resultOf(last)}`}
          {delivery.next_try_at !== null && ` · next try ${clock(unixSeconds(delivery.next_try_at))}`}
        </span>
      </summary>
      <div class="stack-s">
        {delivery.tries.map((one) => (
          <div key={one.at} class="small">
            <span class="num muted">{clock(unixSeconds(one.at))}</span> {resultOf(one)} in{" "}
            {duration(one.milliseconds / 1000)}
            {one.status !== null && one.answer && <code class="delivery-answer">{one.answer}</code>}
          </div>
        ))}
        <pre class="delivery-payload">{JSON.stringify(delivery.payload, null, 2)}</pre>
        <div>
          <button type="button" class="button small" onClick={onAgain}>
            Send again
          </button>
        </div>
      </div>
    </details>
  );
}

/** A status; without one, why there is none, or what the mail server said. */
function resultOf({ status, answer }: Delivery["tries"][number]): string {
  return status === null ? answer : `status ${status}`;
}
