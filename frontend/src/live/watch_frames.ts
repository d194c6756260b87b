/** A websocket that is opened again whenever it breaks, for pages that read over REST what they missed meanwhile. */

import { reconnectDelay } from "./backoff.ts";
import { socketAddress } from "./run_socket.ts";

export interface FrameHandlers<Frame> {
  readonly onFrame: (frame: Frame) => void;
  readonly onLive: (live: boolean) => void;
  /** Opened again after a break. */
  readonly onReconnected?: () => void;
}

/** Returns what ends it. */
export function watchFrames<Frame>(path: string, handlers: FrameHandlers<Frame>): () => void {
  let failures = 0;
  let everOpened = false;
  let ended = false;
  let socket: WebSocket;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = () => {
    socket = new WebSocket(socketAddress(path));
    socket.addEventListener("open", () => {
      failures = 0;
      handlers.onLive(true);
      if (everOpened) handlers.onReconnected?.();
      everOpened = true;
    });
    socket.addEventListener("message", (message) => handlers.onFrame(JSON.parse(String(message.data)) as Frame));
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
