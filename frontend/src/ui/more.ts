/** A list that is read page by page: the first page by itself, each further one when it is asked for. */

import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { type Resource, useResource } from "./resource.ts";
import { toast } from "./toasts.tsx";

interface Page<T> {
  readonly next: string | null;
  readonly results: readonly T[];
}

export interface Pages<T> {
  readonly rows: readonly T[];
  readonly first: Resource<Page<T>>;
  /** Reads the next page; null where there is none. */
  readonly more: (() => Promise<void>) | null;
}

/** `read` takes the cursor of a page, none for the first. Reads anew whenever a dependency changes. */
export function usePages<T>(read: (cursor?: string) => Promise<Page<T>>, dependencies: readonly unknown[]): Pages<T> {
  const first = useResource(() => read(), dependencies);
  const [later, setLater] = useState<readonly T[]>([]);
  const [next, setNext] = useState<string | null>(null);
  useEffect(() => {
    setLater([]);
    setNext(first.value?.next ?? null);
  }, [first.value]);
  const more = async (address: string) => {
    try {
      const page = await read(new URL(address, location.href).searchParams.get("cursor") ?? undefined);
      setLater((rows) => [...rows, ...page.results]);
      setNext(page.next);
    } catch (error) {
      toast(messageOf(error), "bad");
    }
  };
  return {
    rows: [...(first.value?.results ?? []), ...later],
    first,
    more: next === null ? null : () => more(next),
  };
}
