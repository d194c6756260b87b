/** One thing read over REST by a component: its value, whether it loads, and why it failed. */

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
