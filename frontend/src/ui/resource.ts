/** One thing read over REST by a component: its value, whether it loads, and why it failed. */

import type { Signal } from "@preact/signals";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";

export interface Resource<T> {
  readonly value: T | undefined;
  readonly error: string | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

/** Reads on mount and whenever a dependency changes; an answer overtaken by a later question is dropped. While it
 * reads again the last value stays, so that a live panel does not flicker. */
export function useResource<T>(read: () => Promise<T>, dependencies: readonly unknown[]): Resource<T> {
  const [value, setValue] = useState<T | undefined>(undefined);
  const [error, setError] = useState<string | null>(null);
  const [loading, setLoading] = useState(true);
  const asked = useRef(0);
  const latestRead = useRef(read);
  latestRead.current = read;
  const reload = useCallback(() => {
    const number = ++asked.current;
    setLoading(true);
    latestRead.current().then(
      (answer) => {
        if (number !== asked.current) return;
        setValue(() => answer);
        setError(null);
        setLoading(false);
      },
      (failure: unknown) => {
        if (number !== asked.current) return;
        setError(messageOf(failure));
        setLoading(false);
      },
    );
  }, []);
  useEffect(reload, [reload, ...dependencies]);
  return { value, error, loading, reload };
}

const REFRESH_MILLISECONDS = 4000;

/** The same, read again while `version` rises, though at most every few seconds. */
export function useLiveResource<T>(
  read: () => Promise<T>,
  dependencies: readonly unknown[],
  version: Signal<number>,
): Resource<T> {
  const newest = version.value;
  const [readFor, setReadFor] = useState(newest);
  useEffect(() => {
    if (readFor === newest) return undefined;
    const timer = setTimeout(() => setReadFor(version.peek()), REFRESH_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [readFor, newest === readFor]);
  return useResource(read, [...dependencies, readFor]);
}
