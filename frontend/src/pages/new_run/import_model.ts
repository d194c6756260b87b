/** A configuration of another trainer on its way into the form: its text, and what the server makes of it. */

import { computed, signal } from "@preact/signals";
import { ApiError, type FieldErrors, messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { ConfigurationToImport, ImportedSpec, ImportKind } from "../../api/schema.ts";
import { bytes } from "../../base/format.ts";
import { debounced } from "../../base/frames.ts";

const QUIET_MILLISECONDS = 300;
/** Four for each of the characters that the server takes at most: a larger file is not even read. */
const MAX_BYTES = 800_000;
const NO_FUNCTION = "This file has no configuration: those of flow_grpo are functions without arguments.";

export class ImportModel {
  readonly text = signal("");
  /** Whose configuration it is: as chosen, else as the server takes it; null while it is unknown. */
  readonly kind = signal<ImportKind | null>(null);
  /** The configurations of flow_grpo's file. */
  readonly functions = signal<readonly string[]>([]);
  readonly functionName = signal("");
  readonly numGpus = signal<number | null>(null);
  /** The spec with what was carried and left out; null until there is one. */
  readonly found = signal<ImportedSpec | null>(null);
  readonly errors = signal<FieldErrors>({});
  /** Why there was no answer (no connection, no right). */
  readonly problem = signal<string | null>(null);
  readonly isReading = signal(false);
  /** What may fill the form: the newest answer, while no other is waited for. */
  readonly ready = computed(() => (this.isReading.value ? null : this.found.value));

  private isKindChosen = false;
  private fileStem = "";
  private underway: AbortController | undefined;
  private readonly later = debounced(() => void this.read(), QUIET_MILLISECONDS);

  edit(text: string): void {
    this.text.value = text;
    this.underway?.abort();
    this.isReading.value = true;
    this.later(undefined);
  }

  async open(file: File): Promise<void> {
    if (file.size > MAX_BYTES) {
      const problem = `${file.name} must be ≤ ${bytes(MAX_BYTES)}, got ${bytes(file.size)}: is it a configuration?`;
      this.found.value = null;
      this.errors.value = { source: [problem] };
      return;
    }
    this.text.value = await file.text();
    this.fileStem = file.name.replace(/\.[^.]+$/, "");
    this.isKindChosen = false;
    await this.read();
  }

  chooseKind(kind: ImportKind): Promise<void> {
    this.isKindChosen = true;
    this.kind.value = kind;
    return this.read();
  }

  chooseFunction(name: string): Promise<void> {
    this.functionName.value = name;
    return this.read();
  }

  setNumGpus(number: number | null): void {
    this.numGpus.value = number;
    this.edit(this.text.value);
  }

  /** A name for the run that the form is filled for. */
  get runName(): string {
    return this.functionName.value || this.fileStem || "Imported run";
  }

  private async read(): Promise<void> {
    this.underway?.abort();
    const controller = new AbortController();
    this.underway = controller;
    this.isReading.value = true;
    let found: ImportedSpec | null = null;
    let errors: FieldErrors = {};
    let problem: string | null = null;
    try {
      if (this.text.value.trim()) found = await this.ask(controller.signal);
      else this.forget();
    } catch (error) {
      errors = error instanceof ApiError ? error.fieldErrors : {};
      if (Object.keys(errors).length === 0) problem = messageOf(error);
    }
    if (controller.signal.aborted) return;
    this.found.value = found;
    this.errors.value = errors;
    this.problem.value = problem;
    this.isReading.value = false;
  }

  /** The spec; null where a function is yet to be chosen. A file that has one only needs no choice. */
  private async ask(signal: AbortSignal): Promise<ImportedSpec | null> {
    const body: ConfigurationToImport = {
      kind: this.isKindChosen ? this.kind.value : null,
      source: this.text.value,
      num_gpus: this.numGpus.value,
    };
    const named = await api.importConfiguration(body, signal);
    this.kind.value = named.kind;
    this.functions.value = named.functions;
    const only = named.functions.length === 1 ? (named.functions[0] ?? "") : "";
    const { value: chosen } = this.functionName;
    this.functionName.value = named.functions.includes(chosen) ? chosen : only;
    if (named.kind !== "flow_grpo") return named;
    if (named.functions.length === 0) throw new ApiError(400, { errors: { source: [NO_FUNCTION] } });
    if (this.functionName.value === "") return null;
    return api.importConfiguration({ ...body, function: this.functionName.value }, signal);
  }

  private forget(): void {
    this.functions.value = [];
    this.functionName.value = "";
    this.fileStem = "";
    if (!this.isKindChosen) this.kind.value = null;
  }
}
