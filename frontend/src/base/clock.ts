/** The server's time in the browser: ages are shown against the server's clock, because a laptop's may be minutes off. */

import { signal } from "@preact/signals";

let offsetSeconds = 0;

/** Server time now, Unix seconds. */
export function serverNow(): number {
  return Date.now() / 1000 + offsetSeconds;
}

export function setServerTime(serverUnixSeconds: number): void {
  offsetSeconds = serverUnixSeconds - Date.now() / 1000;
}

/** Server time that ticks once a second; read it in a component that shows an age. */
export const seconds = signal(serverNow());

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) seconds.value = serverNow();
  }, 1000);
}
