/** What a page shows, kept in its address: a link shows another reader the same. */

import { searchOf } from "../api/client.ts";

/** The page's query, by name. */
export function readQuery(): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Put these into the address, without a new entry of the browser's history; empty ones are left out. */
export function writeQuery(values: Readonly<Record<string, string | undefined>>): void {
  history.replaceState(null, "", location.pathname + searchOf(values));
}

/** The choice of that name, if it is one of these; else the first of them. */
export function chosen<T extends string>(
  query: Readonly<Record<string, string>>,
  name: string,
  of: readonly [T, ...T[]],
): T {
  return of.find((value) => value === query[name]) ?? of[0];
}
