/** The few things of a browser that stores touch, for tests: frames, the page's address, websockets and REST. */

type Listener = (event: { readonly data?: string; readonly code?: number }) => void;

/** A websocket whose server is the test. */
export class FakeSocket {
  static opened: FakeSocket[] = [];
  isClosed = false;
  private readonly listeners = new Map<string, Listener[]>();

  constructor(readonly address: string) {
    FakeSocket.opened.push(this);
  }

  static get last(): FakeSocket {
    const socket = FakeSocket.opened.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }

  close(): void {
    this.isClosed = true;
  }

  /** The server accepted. */
  accept(): void {
    this.emit("open", {});
  }

  /** The server sent a frame. */
  send(frame: unknown): void {
    this.emit("message", { data: JSON.stringify(frame) });
  }

  /** The connection ended with a close code. */
  drop(code = 1006): void {
    this.emit("close", { code });
  }

  private emit(type: string, event: Parameters<Listener>[0]): void {
    for (const listener of this.listeners.get(type) ?? []) listener(event);
  }
}

export interface Requested {
  readonly method: string;
  /** Path and query. */
  readonly address: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const pageListeners = new Set<{ readonly type: string; readonly listener: () => void }>();

/** An event of the window, such as `online`. */
export function fireBrowserEvent(type: string): void {
  for (const known of [...pageListeners]) if (known.type === type) known.listener();
}

type Answer = { readonly status?: number; readonly json?: unknown } | Error;

/** What a browser remembers, empty at first. */
function memoryStorage() {
  const entries = new Map<string, string>();
  return {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => entries.set(key, value),
    removeItem: (key: string) => entries.delete(key),
  };
}

/** Puts a browser in place: frames are painted at the end of each macrotask, REST answers as `answer` says. Returns the
 * list of requests, which grows. */
export function installBrowser(
  answer: (request: Requested) => Answer | Promise<Answer> = () => ({ json: null }),
): Requested[] {
  const requests: Requested[] = [];
  FakeSocket.opened = [];
  pageListeners.clear();
  const globals = {
    location: { protocol: "https:", host: "tandem.example", href: "https://tandem.example/", search: "" },
    document: {
      hidden: false,
      querySelector: () => ({ content: "the token" }),
      getElementById: () => null,
      documentElement: { dataset: {} },
    },
    localStorage: memoryStorage(),
    requestAnimationFrame: (work: () => void) => setTimeout(work, 0),
    WebSocket: FakeSocket,
    addEventListener: (type: string, listener: () => void) => pageListeners.add({ type, listener }),
    removeEventListener: (type: string, listener: () => void) => {
      for (const known of pageListeners) {
        if (known.type === type && known.listener === listener) pageListeners.delete(known);
      }
    },
    fetch: async (address: string, init: RequestInit) => {
      const body: unknown = init.body === undefined ? undefined : JSON.parse(String(init.body));
      const headers = init.headers as Record<string, string>;
      const request = { method: init.method ?? "GET", address, body, headers };
      requests.push(request);
      const given = await answer(request);
      if (given instanceof Error) throw given;
      const { status = 200, json = null } = given;
      const text = json === null ? null : JSON.stringify(json);
      return new Response(status === 204 ? null : text, { status, headers: { "Content-Type": "application/json" } });
    },
  };
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return requests;
}

/** Until timers that are due, and promises, have run. */
export function settled(milliseconds = 1): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
