/** Live validation of the form: debounced, the latest request wins, errors by dotted path. */

import { signal } from "@preact/signals";
import { ApiError, type FieldErrors, messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Validation } from "../../api/schema.ts";
import { debounced } from "../../base/frames.ts";
import type { JsonObject } from "../../base/paths.ts";

export type ValidationRequest = ({ readonly spec: JsonObject } | { readonly yaml: string }) & {
  readonly project?: string;
  /** The checkpoint that the run is to begin from, and the run that it is of. */
  readonly parent?: string;
  readonly checkpoint?: number;
};

export interface SpecError {
  readonly path: string;
  readonly message: string;
  /** Where it stands in the YAML, from 1; null for a spec that is edited as a form. */
  readonly line: number | null;
}

/** The path under which the server puts errors of the spec as a whole. */
const WHOLE = "__all__";

const QUIET_MILLISECONDS = 300;

export class Validator {
  readonly answer = signal<Validation | null>(null);
  readonly checking = signal(false);
  /** Why there was no answer (no connection, no right). */
  readonly problem = signal<string | null>(null);
  private newest: ValidationRequest | undefined;
  private underway: AbortController | undefined;
  private readonly later: (request: ValidationRequest) => void;

  constructor(private readonly onAnswer: (request: ValidationRequest, answer: Validation) => void) {
    this.later = debounced((request) => {
      if (request === this.newest) void this.now(request);
    }, QUIET_MILLISECONDS);
  }

  ask(request: ValidationRequest): void {
    this.checking.value = true;
    this.newest = request;
    this.later(request);
  }

  async now(request: ValidationRequest): Promise<void> {
    this.newest = request;
    this.underway?.abort();
    const controller = new AbortController();
    this.underway = controller;
    this.checking.value = true;
    try {
      this.take(request, await api.validate(request, controller.signal));
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof ApiError && Object.keys(error.fieldErrors).length > 0)
        this.take(request, refused(error.fieldErrors));
      else this.problem.value = messageOf(error);
    }
    this.checking.value = false;
  }

  /** Once the newest request has its answer. */
  async whenChecked(): Promise<void> {
    if (!this.checking.value) return;
    await new Promise<void>((resolve) => {
      const stop = this.checking.subscribe((isChecking) => {
        if (isChecking) return;
        stop();
        resolve();
      });
    });
  }

  /** Errors of `path` itself. */
  errorsAt(path: string): readonly string[] {
    return this.answer.value?.errors[path] ?? [];
  }

  /** Every error; an empty path concerns the spec as a whole. */
  allErrors(): SpecError[] {
    const { errors = {}, lines = {} } = this.answer.value ?? {};
    return Object.entries(errors).flatMap(([path, messages]) =>
      messages.map((message) => ({ path: path === WHOLE ? "" : path, message, line: lines[path] ?? null })),
    );
  }

  private take(request: ValidationRequest, answer: Validation): void {
    this.problem.value = null;
    this.answer.value = answer;
    this.onAnswer(request, answer);
  }
}

function refused(errors: FieldErrors): Validation {
  const nothing = {
    lines: {},
    document: null,
    algebra: null,
    algebra_text: null,
    warnings: [],
    spec: null,
    yaml: null,
  };
  return { ok: false, errors, ...nothing };
}
