/** A websocket that stays connected: every page's live data comes through this class.
 *
 * It is opened again whenever it breaks, after growing delays. The server sends heartbeats, so a connection that dies
 * without a word is noticed too: by silence. Invariant: frames of a connection that was given up are never passed on.
 */

import type { HeartbeatFrame } from "../api/schema.ts";
import { setServerTime } from "../base/clock.ts";
import { reconnectDelay } from "./backoff.ts";
import { isLoggedOut, reportHeld, reportLost } from "./connections.ts";

/** `connecting`: for the first time. `refused`: the server says that connecting again is of no use. */
export type Connection = "connecting" | "live" | "reconnecting" | "refused" | "closed";

export interface SocketHandlers<Frame> {
  readonly onFrame: (frame: Exclude<Frame, HeartbeatFrame>) => void;
  readonly onConnection?: (connection: Connection) => void;
  /** Live again after a break: what was missed meanwhile is to be read. Called before the first frame is passed on. */
  readonly onReconnected?: () => void;
  /** With each frame and heartbeat: the connection holds. */
  readonly onReceived?: () => void;
  /** What is shown is not, or no longer, this user's to see. Without it the page says that the session has ended. */
  readonly onRefused?: () => void;
}

/** How often silence is looked at. Ticks are counted rather than seconds, so that a machine that slept, or a page that
 * was busy, gives frames that wait a chance to be heard first. */
const TICK_MILLISECONDS = 1000;
/** The server sends a heartbeat every 3 s: two of them, and a margin for slow networks. */
const SILENT_TICKS = 8;
/** The server's close codes for what is not, or no longer, this user's to see, and for a request that means nothing. */
const REFUSED = [4404, 4400];

export class LiveSocket<Frame extends { readonly kind: string }> {
  private socket: WebSocket | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private tick: ReturnType<typeof setInterval> | undefined;
  private connection: Connection = "closed";
  private failures = 0;
  private silentTicks = 0;
  private hasBeenLive = false;
  /** In Unix seconds of the browser; the time of opening before anything was received. */
  private lastReceived = 0;

  /** `path` is asked for at each opening, so that it can name the last item received. */
  constructor(
    private readonly path: () => string,
    private readonly handlers: SocketHandlers<Frame>,
  ) {}

  /** Returns what closes it for good. */
  open(): () => void {
    this.lastReceived = Date.now() / 1000;
    this.tick = setInterval(() => this.listen(), TICK_MILLISECONDS);
    addEventListener("online", this.retryNow);
    this.connect("connecting");
    return () => this.close("closed");
  }

  private connect(connection: Connection): void {
    this.become(connection);
    this.silentTicks = 0;
    const socket = new WebSocket(socketAddress(this.path()));
    this.socket = socket;
    socket.addEventListener("message", (message) => {
      if (socket === this.socket) this.receive(JSON.parse(String(message.data)) as Frame | HeartbeatFrame);
    });
    socket.addEventListener("close", (event) => {
      if (socket === this.socket) this.lose(event.code);
    });
  }

  private close(connection: "closed" | "refused"): void {
    clearTimeout(this.retry);
    clearInterval(this.tick);
    removeEventListener("online", this.retryNow);
    reportHeld(this);
    this.giveUp();
    this.become(connection);
  }

  private receive(frame: Frame | HeartbeatFrame): void {
    this.silentTicks = 0;
    this.failures = 0;
    this.lastReceived = Date.now() / 1000;
    this.handlers.onReceived?.();
    if (this.connection !== "live") {
      reportHeld(this);
      this.become("live");
      if (this.hasBeenLive) this.handlers.onReconnected?.();
      this.hasBeenLive = true;
    }
    if (isHeartbeat(frame)) setServerTime(frame.now);
    else this.handlers.onFrame(frame as Exclude<Frame, HeartbeatFrame>);
  }

  private listen(): void {
    if (this.socket === undefined) return;
    this.silentTicks += 1;
    if (this.silentTicks >= SILENT_TICKS) this.lose();
  }

  private lose(code?: number): void {
    if (code !== undefined && REFUSED.includes(code)) {
      this.close("refused");
      if (this.handlers.onRefused) this.handlers.onRefused();
      else isLoggedOut.value = true;
      return;
    }
    this.giveUp();
    reportLost(this, this.lastReceived);
    this.become("reconnecting");
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.connect("reconnecting"), reconnectDelay(this.failures, Math.random()));
    this.failures += 1;
  }

  /** A socket that died takes long to close: it is forgotten at once. */
  private giveUp(): void {
    const socket = this.socket;
    this.socket = undefined;
    socket?.close();
  }

  /** The browser has a network again: what is left of the delay need not be waited for. */
  private readonly retryNow = () => {
    if (this.socket !== undefined) return;
    clearTimeout(this.retry);
    this.connect("reconnecting");
  };

  private become(connection: Connection): void {
    if (connection === this.connection) return;
    this.connection = connection;
    this.handlers.onConnection?.(connection);
  }
}

function isHeartbeat(frame: { readonly kind: string }): frame is HeartbeatFrame {
  return frame.kind === "heartbeat";
}

/** `/ws/…` as the address of a websocket on the page's own server. */
function socketAddress(path: string): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}
