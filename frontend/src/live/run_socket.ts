/** The run's websocket: opened at a stream number, reopened from the last one received, never skipping an item. */

import type { RunFrame, StreamItem } from "../api/schema.ts";
import { setServerTime } from "../base/clock.ts";
import { LiveSocket, type SocketHandlers } from "./live_socket.ts";

export interface RunSocketHandlers extends Pick<SocketHandlers<RunFrame>, "onConnection" | "onReceived" | "onRefused"> {
  readonly onItems: (items: readonly StreamItem[]) => void;
  /** The server no longer holds what was missed: everything must be read again over REST. */
  readonly onSnapshot: () => void;
}

/** Open it after `lastSeq`; returns what closes it. */
export function followRun(runId: string, lastSeq: number, handlers: RunSocketHandlers): () => void {
  let newest = lastSeq;
  const { onItems, onSnapshot, ...rest } = handlers;
  const socket = new LiveSocket<RunFrame>(() => `/ws/v1/runs/${runId}?after_seq=${newest}`, {
    ...rest,
    onFrame: (frame) => {
      switch (frame.kind) {
        case "hello":
          setServerTime(frame.now);
          break;
        case "snapshot":
          newest = Math.max(newest, frame.stream_seq);
          onSnapshot();
          break;
        case "items":
          for (const item of frame.items) newest = Math.max(newest, item.stream_seq);
          onItems(frame.items);
      }
    },
  });
  return socket.open();
}
