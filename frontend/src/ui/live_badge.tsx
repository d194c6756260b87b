/** How old what a page shows is: by the reader's connection first, then by what the page says of its source. */

import { seconds } from "../base/clock.ts";
import { ago } from "../base/format.ts";
import type { Connection } from "../live/live_socket.ts";

interface Props {
  readonly connection: Connection;
  /** Server time when the connection was last known to hold. */
  readonly heardAt: number;
  /** Why the data is old although the connection holds, such as a silent run; null where it is new. */
  readonly stale?: string | null;
  readonly title?: string;
}

export function LiveBadge({ connection, heardAt, stale = null, title }: Props) {
  const [tone, text] = wordsOf(connection, seconds.value - heardAt, stale);
  return (
    <span class={`badge ${tone}`} role="status" title={title}>
      {text}
    </span>
  );
}

function wordsOf(connection: Connection, quiet: number, stale: string | null): [tone: string, text: string] {
  switch (connection) {
    case "connecting":
      return ["", "connecting"];
    case "reconnecting":
      return ["lost", `reconnecting, data from ${ago(Math.max(0, quiet))}`];
    case "refused":
      return ["lost", "logged out"];
    case "closed":
      return ["", "closed"];
    case "live":
      return stale === null ? ["live", "live"] : ["delayed", stale];
  }
}
