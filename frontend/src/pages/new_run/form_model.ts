/** The state of the new-run form: one spec, edited as fields or as YAML, checked by the server as it changes. */

import { computed, signal } from "@preact/signals";
import type { NewRun, Preset, Run, SavedCheckpoint, Validation } from "../../api/schema.ts";
import { getPath, isObject, type Json, type JsonObject, sameJson, setPath } from "../../base/paths.ts";
import { Applicability } from "./applicability.ts";
import type { SpecSchema } from "./spec_schema.ts";
import { type ValidationRequest, Validator } from "./validation.ts";

/** The field that chooses among the variants of a section. */
const ALGORITHM = { section: "algorithm", path: "algorithm.name" };

export class FormModel {
  readonly spec = signal<JsonObject>({});
  readonly yaml = signal("");
  readonly asYaml = signal(false);
  /** YAML that could not be read when the form was opened over it; it is kept until it is mended or discarded. */
  readonly unreadYaml = signal<string | null>(null);
  readonly name = signal("");
  readonly project = signal("");
  readonly presetName = signal<string | null>(null);
  /** The run that this one repeats with changes; null for a new one. */
  readonly parent = signal<{ readonly id: string; readonly spec: JsonObject } | null>(null);
  /** The parent's checkpoint that the run begins from; null: from the base model. */
  readonly checkpoint = signal<SavedCheckpoint | null>(null);
  readonly validator = new Validator((request, answer) => this.merge(request, answer));

  readonly ok = computed(() => this.validator.answer.value?.ok === true && !this.validator.checking.value);

  private isYamlUnread = false;
  private readonly rules: Applicability;

  constructor(readonly schema: SpecSchema) {
    this.rules = new Applicability(schema);
  }

  /** Start from a ready spec. */
  choosePreset(preset: Preset): void {
    this.presetName.value = preset.name;
    this.name.value = preset.title;
    this.load(preset.spec);
  }

  /** Start from what an import made: it goes the way of YAML that is typed, and the form opens. */
  fillFrom(name: string, yaml: string): Promise<void> {
    this.presetName.value = null;
    this.name.value = name;
    this.asYaml.value = false;
    this.unreadYaml.value = null;
    this.yaml.value = yaml;
    return this.validator.now(this.inContext({ yaml }));
  }

  /** Start from another run. */
  repeat(run: Run): void {
    this.parent.value = { id: run.id, spec: run.spec };
    this.name.value = `${run.name}, again`;
    this.project.value = run.project.id;
    this.load(run.spec);
  }

  /** Begin from a checkpoint of another run. A run that is over at its batch is made as long again. */
  fork(run: Run, checkpoint: SavedCheckpoint): void {
    this.checkpoint.value = checkpoint;
    this.repeat(run);
    this.name.value = `${run.name}, from batch ${checkpoint.batch}`;
    if (run.num_batches > checkpoint.batch) return;
    this.set("num_batches", checkpoint.batch + run.num_batches - (run.forked_batch ?? 0));
  }

  /** Begin what is in the form from a checkpoint of another run. */
  beginFrom(run: Run, checkpoint: SavedCheckpoint): void {
    this.checkpoint.value = checkpoint;
    this.parent.value = { id: run.id, spec: run.spec };
    void this.validator.now(this.inContext(this.edited));
  }

  /** What a field holds, or what the server takes for it. */
  value(path: string): Json | undefined {
    return getPath(this.spec.value, path) ?? this.schema.at(path, this.spec.value).fallback;
  }

  /** Why a field does not apply now; empty where it does. */
  whyNot(path: string): string {
    return this.rules.whyNot(path, this.spec.value);
  }

  errorsAt(path: string): readonly string[] {
    return this.validator.errorsAt(path);
  }

  parentValue(path: string): Json | undefined {
    return this.parent.value ? getPath(this.parent.value.spec, path) : undefined;
  }

  /** Whether a rerun differs from its parent there. */
  isChanged(path: string): boolean {
    return (
      this.parent.value !== null && !sameJson(getPath(this.spec.value, path) ?? null, this.parentValue(path) ?? null)
    );
  }

  set(path: string, value: Json): void {
    if (path === ALGORITHM.path) {
      this.replace(this.schema.switched(ALGORITHM.section, String(value), this.spec.value));
      return;
    }
    if (sameJson(getPath(this.spec.value, path), value)) return;
    this.spec.value = this.rules.settled(setPath(this.spec.value, path, value));
    this.validator.ask(this.inContext({ spec: this.spec.value }));
  }

  /** Take another spec for the whole form. */
  replace(spec: JsonObject): void {
    this.load(this.rules.settled(spec));
  }

  /** What is sent to start the run. */
  get newRun(): NewRun {
    const { value: parent } = this.parent;
    const { value: checkpoint } = this.checkpoint;
    return {
      project: this.project.value,
      name: this.name.value.trim(),
      spec: this.spec.value,
      ...(parent ? { parent: parent.id } : {}),
      ...(checkpoint ? { checkpoint: checkpoint.id } : {}),
      ...(this.presetName.value ? { preset: this.presetName.value } : {}),
    };
  }

  /** Open the YAML, or the form. What is shown is what is checked and started. */
  show(asYaml: boolean): void {
    if (asYaml === this.asYaml.value) return;
    this.asYaml.value = asYaml;
    const { value: kept } = this.unreadYaml;
    if (!asYaml) {
      this.unreadYaml.value = this.isYamlUnread ? this.yaml.value : null;
      void this.validator.now(this.inContext({ spec: this.spec.value }));
    } else if (kept !== null) {
      this.unreadYaml.value = null;
      this.yaml.value = kept;
      void this.validator.now(this.inContext({ yaml: kept }));
    }
  }

  editYaml(text: string): void {
    this.yaml.value = text;
    this.validator.ask(this.inContext({ yaml: text }));
  }

  chooseProject(id: string): void {
    this.project.value = id;
    this.validator.ask(this.inContext(this.edited));
  }

  private get edited(): ValidationRequest {
    return this.asYaml.value ? { yaml: this.yaml.value } : { spec: this.spec.value };
  }

  private load(spec: JsonObject): void {
    this.spec.value = spec;
    void this.validator.now(this.inContext({ spec }));
  }

  /** A spec is right or wrong within a project, which prompt sets belong to, and beside the checkpoint of a fork. */
  private inContext(request: ValidationRequest): ValidationRequest {
    const { value: parent } = this.parent;
    const { value: checkpoint } = this.checkpoint;
    return {
      ...request,
      ...(this.project.value ? { project: this.project.value } : {}),
      ...(parent && checkpoint ? { parent: parent.id, checkpoint: checkpoint.id } : {}),
    };
  }

  /** The server's normal form fills what the other view shows: YAML for the form, the spec for the YAML. */
  private merge(request: ValidationRequest, answer: Validation): void {
    if ("yaml" in request) {
      const read = answer.spec ?? answer.document;
      this.isYamlUnread = read === null;
      if (read !== null) this.spec.value = read as JsonObject;
      return;
    }
    if (answer.yaml !== null) this.yaml.value = answer.yaml;
    const isNewest = sameJson(request.spec, this.spec.peek());
    if (answer.spec && isNewest) this.spec.value = withDefaults(answer.spec, request.spec);
  }
}

/** Defaults that the server filled in join the form, but nothing that the user typed is overwritten. */
export function withDefaults(normal: JsonObject, typed: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...normal };
  for (const [key, value] of Object.entries(typed)) {
    const known = normal[key];
    merged[key] = isObject(value) && isObject(known) ? withDefaults(known, value) : value;
  }
  return merged;
}
