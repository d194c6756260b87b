/** The state of the new-run form: one spec, edited as fields or as YAML, checked by the server as it changes. */

import { computed, signal } from "@preact/signals";
import type { Validation } from "../../api/types.ts";
import { getPath, type Json, type JsonObject, sameJson, setPath } from "../../base/paths.ts";
import { settled } from "./applies.ts";
import { type Question, Validator } from "./validation.ts";

export class FormModel {
  readonly spec = signal<JsonObject>({});
  readonly yaml = signal("");
  readonly asYaml = signal(false);
  readonly name = signal("");
  readonly project = signal("");
  readonly presetName = signal<string | null>(null);
  readonly parentSpec = signal<JsonObject | null>(null);
  readonly parentId = signal<string | null>(null);
  readonly validator = new Validator((question, answer) => this.learn(question, answer));

  readonly ok = computed(() => this.validator.answer.value?.ok === true && !this.validator.checking.value);

  take(spec: JsonObject): void {
    this.spec.value = spec;
    void this.validator.now(this.inProject({ spec }));
  }

  set(path: string, value: Json): void {
    if (sameJson(getPath(this.spec.value, path), value)) return;
    this.spec.value = settled(setPath(this.spec.value, path, value));
    this.validator.ask(this.inProject({ spec: this.spec.value }));
  }

  editYaml(text: string): void {
    this.yaml.value = text;
    this.validator.ask(this.inProject({ yaml: text }));
  }

  chooseProject(id: string): void {
    this.project.value = id;
    this.validator.ask(this.inProject({ spec: this.spec.value }));
  }

  /** Prompt sets belong to a project, so a spec is right or wrong within one. */
  private inProject(question: Question): Question {
    return this.project.value ? { ...question, project: this.project.value } : question;
  }

  /** The server's normal form fills what the other view shows: YAML for the form, the spec for the YAML. */
  private learn(question: Question, answer: Validation): void {
    if ("yaml" in question) {
      if (answer.spec) this.spec.value = answer.spec;
    } else {
      if (answer.yaml !== null) this.yaml.value = answer.yaml;
      if (answer.spec && sameJson(question.spec, this.spec.peek()))
        this.spec.value = withDefaults(answer.spec, question.spec);
    }
  }
}

/** Defaults the server filled in join the form, but nothing the user typed is rewritten under their hands. */
function withDefaults(normal: JsonObject, typed: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...normal };
  for (const [key, value] of Object.entries(typed)) {
    const known = normal[key];
    const both =
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      typeof known === "object" &&
      known !== null &&
      !Array.isArray(known);
    merged[key] = both ? withDefaults(known as JsonObject, value as JsonObject) : value;
  }
  return merged;
}
