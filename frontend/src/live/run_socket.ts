/** The run's websocket: opened at a stream number, reopened from the last one received, never skipping an item. */

import type { RunFrame, StreamItem } from "../api/schema.ts";
import { setServerTime } from "../base/clock.ts";
import { reconnectDelay } from "./backoff.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "closed";

export interface RunSocketHandlers {
  readonly onItems: (items: readonly StreamItem[]) => void;
  /** The server no longer holds what was missed: everything must be read again over REST. */
  readonly onSnapshot: () => void;
  readonly onConnection: (connection: Connection) => void;
  readonly onTraffic: () => void;
  /** The run is not (or no longer) this user's to see: connecting again would change nothing. */
  readonly onRefused: () => void;
}

/** The server's close codes after which connecting again is of no use. */
const NOT_VISIBLE = 4404;
const BAD_REQUEST = 4400;

/** `/ws/…` as the address of a websocket on the page's own server. */
export function socketAddress(path: string): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}

export class RunSocket {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private ended = false;

  constructor(
    private readonly runId: string,
    private lastSeq: number,
    private readonly handlers: RunSocketHandlers,
  ) {}

  open(): void {
    if (this.ended) return;
    this.handlers.onConnection(this.failures === 0 ? "connecting" : "reconnecting");
    const socket = new WebSocket(socketAddress(`/ws/v1/runs/${this.runId}?after_seq=${this.lastSeq}`));
    this.socket = socket;
    socket.addEventListener("message", (message) => this.receive(JSON.parse(String(message.data)) as RunFrame));
    socket.addEventListener("close", (event) => this.lost(socket, event.code));
  }

  close(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.socket?.close();
    this.handlers.onConnection("closed");
  }

  private receive(frame: RunFrame): void {
    this.handlers.onTraffic();
    switch (frame.kind) {
      case "hello":
        this.failures = 0;
        setServerTime(frame.now);
        this.handlers.onConnection("live");
        break;
      case "snapshot":
        this.lastSeq = Math.max(this.lastSeq, frame.stream_seq);
        this.handlers.onSnapshot();
        break;
      case "items":
        for (const item of frame.items) this.lastSeq = Math.max(this.lastSeq, item.stream_seq);
        this.handlers.onItems(frame.items);
    }
  }

  private lost(socket: WebSocket, code: number): void {
    if (this.ended || socket !== this.socket) return;
    if (code === NOT_VISIBLE || code === BAD_REQUEST) {
      this.close();
      this.handlers.onRefused();
      return;
    }
    this.handlers.onConnection("reconnecting");
    this.timer = setTimeout(() => this.open(), reconnectDelay(this.failures, Math.random()));
    this.failures += 1;
  }
}
