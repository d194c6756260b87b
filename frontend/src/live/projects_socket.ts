/** The runs list's websocket: it reports which runs changed; after a break the list is read again. */

import type { ProjectsFrame, RunRow } from "../api/schema.ts";
import { reconnectDelay } from "./backoff.ts";
import { socketAddress } from "./run_socket.ts";

interface Handlers {
  readonly onRun: (run: RunRow) => void;
  readonly onReconnected: () => void;
  readonly onLive: (live: boolean) => void;
}

export function watchProjects(handlers: Handlers): () => void {
  let failures = 0;
  let everOpened = false;
  let ended = false;
  let socket: WebSocket;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = () => {
    socket = new WebSocket(socketAddress("/ws/v1/projects"));
    socket.addEventListener("open", () => {
      failures = 0;
      handlers.onLive(true);
      if (everOpened) handlers.onReconnected();
      everOpened = true;
    });
    socket.addEventListener("message", (message) => {
      const frame = JSON.parse(String(message.data)) as ProjectsFrame;
      handlers.onRun(frame.run);
    });
    socket.addEventListener("close", () => {
      if (ended) return;
      handlers.onLive(false);
      timer = setTimeout(open, reconnectDelay(failures, Math.random()));
      failures += 1;
    });
  };
  open();
  return () => {
    ended = true;
    clearTimeout(timer);
    socket.close();
  };
}
