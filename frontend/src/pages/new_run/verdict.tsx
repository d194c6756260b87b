/** What the server says of the spec in the form: whether it may start, its batch algebra, warnings, what is refused. */

import { Coded } from "../../ui/coded.tsx";
import { labelOf } from "./fields.ts";
import type { FormModel } from "./form_model.ts";
import type { FormView } from "./form_view.ts";
import type { SpecError } from "./validation.ts";
import { selectLine } from "./yaml_lines.ts";

/** Whether the run could start now, in a few words. */
export function Readiness({ model }: { model: FormModel }) {
  const { answer, checking, problem } = model.validator;
  if (problem.value !== null) return <span class="badge lost">could not be checked</span>;
  const verdict = answer.value;
  if (!verdict || checking.value) return <span class={`badge ${verdict?.ok ? "live" : "lost"}`}>checking…</span>;
  if (verdict.ok)
    return (
      <span class={`badge ${verdict.warnings.length > 0 ? "delayed" : "live"}`}>
        {verdict.warnings.length > 0 ? "may start, with a warning" : "ready to start"}
      </span>
    );
  const number = model.validator.allErrors().length;
  return (
    <span class="badge lost">
      {number} {number === 1 ? "thing" : "things"} to put right
    </span>
  );
}

export function Verdict({ model, view }: { model: FormModel; view: FormView }) {
  const { answer, problem } = model.validator;
  if (problem.value !== null)
    return (
      <p class="notice bad" role="alert">
        {problem.value}
      </p>
    );
  const verdict = answer.value;
  if (!verdict) return <p class="small muted">Checking…</p>;
  const errors = model.validator.allErrors();
  return (
    <div class="stack-s" aria-live="polite">
      <Readiness model={model} />
      {verdict.ok && verdict.algebra_text && <p class="algebra">{verdict.algebra_text}.</p>}
      {errors.length > 0 && (
        <ul class="bullets small summary-errors">
          {errors.map((error) => (
            <li key={error.path + error.message}>
              <Refused {...error} view={view} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The message after the label of its input; a button that leads to its input, or to its line of the YAML. */
function Refused({ path, message, line, view }: SpecError & { view: FormView }) {
  const label = labelOf(path);
  const said = (
    <>
      {label && <b>{label}: </b>}
      <Coded text={path && !message.includes(path) ? `\`${path}\`: ${message}` : message} />
    </>
  );
  if (line === null && path === "") return said;
  return (
    <button type="button" class="link-button" onClick={() => (line === null ? view.reveal(path) : selectLine(line))}>
      {line !== null && <span class="num">Line {line}: </span>}
      {said}
    </button>
  );
}
