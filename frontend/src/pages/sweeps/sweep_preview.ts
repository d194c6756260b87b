/** What the server says of a sweep while it is edited: its points, or every error by dotted path. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, type FieldErrors, messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { SweepPreview, SweepToPreview } from "../../api/schema.ts";

/** Every point is checked, which takes the server up to a second or two. */
const QUIET_MILLISECONDS = 500;

export interface PreviewState {
  /** The newest answer; of what was there before, while `isChecking`. */
  readonly found: SweepPreview | null;
  readonly errors: FieldErrors;
  /** Why there was no answer; null where there was one. */
  readonly problem: string | null;
  readonly isChecking: boolean;
}

const NOTHING: PreviewState = { found: null, errors: {}, problem: null, isChecking: false };

export function useSweepPreview(asked: SweepToPreview | null): PreviewState {
  const [state, setState] = useState<PreviewState>(NOTHING);
  const key = JSON.stringify(asked);
  useEffect(() => {
    if (asked === null) return undefined;
    const controller = new AbortController();
    setState((before) => ({ ...before, isChecking: true }));
    const timer = setTimeout(() => {
      api.previewSweep(asked, controller.signal).then(
        (found) => setState({ ...NOTHING, found }),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          const errors = error instanceof ApiError ? error.fieldErrors : {};
          setState({ ...NOTHING, errors, problem: Object.keys(errors).length > 0 ? null : messageOf(error) });
        },
      );
    }, QUIET_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  return state;
}

/** The messages at a path and below it. */
export function errorsAt(errors: FieldErrors, path: string): readonly string[] {
  const found = Object.entries(errors).filter(([at]) => at === path || at.startsWith(`${path}.`));
  return found.flatMap(([, messages]) => messages);
}
