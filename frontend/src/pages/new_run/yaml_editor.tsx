/** The spec as YAML: line numbers, and marks on the lines of what is refused. The summary has the messages. */

import type { FormModel } from "./form_model.ts";
import { EDITOR_ID, messagesByLine } from "./yaml_lines.ts";

/** Fewest lines that the editor shows, so that a short spec does not make the page jump. */
const FEWEST_LINES = 24;

export function YamlEditor({ model }: { model: FormModel }) {
  const text = model.yaml.value;
  const numLines = text.split("\n").length;
  const marks = messagesByLine(model.validator.allErrors());
  return (
    <section class="card flush" aria-label="Spec as YAML">
      <div class="yaml-text">
        <div class="yaml-lines num" aria-hidden="true">
          {Array.from({ length: numLines }, (_, index) => (
            <span key={index} class={marks.has(index + 1) ? "marked" : ""} title={marks.get(index + 1)?.join("\n")}>
              {index + 1}
            </span>
          ))}
        </div>
        <div class="yaml-editor-box">
          {[...marks.keys()].map((line) => (
            <span key={line} class="yaml-mark" style={{ "--index": line - 1 }} aria-hidden="true" />
          ))}
          <textarea
            id={EDITOR_ID}
            class="yaml-editor"
            spellcheck={false}
            wrap="off"
            aria-label="Spec as YAML"
            aria-invalid={marks.size > 0}
            rows={Math.max(FEWEST_LINES, numLines)}
            value={text}
            onInput={(event) => model.editYaml(event.currentTarget.value)}
          />
        </div>
      </div>
    </section>
  );
}
