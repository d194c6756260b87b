/** Which of the page's websockets are lost, for the bar that says so across the page. */

import { computed, signal } from "@preact/signals";

/** By socket that is lost: when it last received anything, in Unix seconds of the browser. */
const lost = signal<ReadonlyMap<object, number>>(new Map());

/** Since when the page may miss something, in Unix seconds of the browser; null while every connection holds. */
export const lostSince = computed(() => (lost.value.size === 0 ? null : Math.min(...lost.value.values())));

/** Whether the server refused a connection: the session has ended. */
export const isLoggedOut = signal(false);

export function reportLost(socket: object, lastReceived: number): void {
  lost.value = new Map([...lost.peek(), [socket, lastReceived]]);
}

/** The connection holds, or nobody needs it any more. */
export function reportHeld(socket: object): void {
  if (!lost.peek().has(socket)) return;
  lost.value = new Map([...lost.peek()].filter(([other]) => other !== socket));
}
