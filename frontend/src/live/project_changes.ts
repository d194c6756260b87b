/** Tells a page that runs of the user's projects changed, so that it reads again what it shows. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ProjectsFrame, RunRow } from "../api/schema.ts";
import { serverNow } from "../base/clock.ts";
import { type Connection, LiveSocket } from "./live_socket.ts";

interface Asked {
  readonly readAgain: () => void;
  /** Changes come in bursts: so long after the first of one the page reads again. */
  readonly afterMilliseconds: number;
  /** So often it reads without any change, for what no run tells of. */
  readonly everyMilliseconds: number;
  /** Whether the page shows the run; every run without it. */
  readonly concerns?: (run: RunRow) => boolean;
}

export function useProjectChanges(asked: Asked) {
  const { readAgain, afterMilliseconds, everyMilliseconds } = asked;
  const [connection, setConnection] = useState<Connection>("connecting");
  /** Server time when the connection was last known to hold. */
  const [heardAt, setHeardAt] = useState(serverNow);
  const concerns = useRef(asked.concerns);
  concerns.current = asked.concerns;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        readAgain();
      }, afterMilliseconds);
    };
    const close = new LiveSocket<ProjectsFrame>(() => "/ws/v1/projects", {
      onFrame: ({ run }) => (concerns.current?.(run) ?? true) && soon(),
      onReconnected: readAgain,
      onConnection: (now) => {
        setConnection(now);
        setHeardAt(serverNow());
      },
    }).open();
    const refresh = setInterval(() => document.hidden || readAgain(), everyMilliseconds);
    return () => {
      close();
      clearTimeout(timer);
      clearInterval(refresh);
    };
  }, [readAgain, afterMilliseconds, everyMilliseconds]);
  return { connection, heardAt };
}
