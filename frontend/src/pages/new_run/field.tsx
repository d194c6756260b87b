/** One labelled input of the form, with its unit, help, error and, in a rerun, what the parent had. */

import type { ComponentChildren } from "preact";
import { sameJson, type Json } from "../../base/paths.ts";
import type { FieldSpec } from "./fields.ts";

interface Props {
  readonly field: FieldSpec;
  readonly value: Json | undefined;
  readonly errors: readonly string[];
  /** The parent run's value, when this is a rerun. */
  readonly parent?: Json | undefined;
  readonly isRerun: boolean;
  readonly onChange: (value: Json) => void;
}

export function Field(props: Props) {
  const { field, errors, value, parent } = props;
  const id = `field-${field.path}`;
  const changed = props.isRerun && !sameJson(value ?? null, parent ?? null);
  const wide = field.input.kind === "lines" || field.input.kind === "words";
  return (
    <div class={`field ${changed ? "changed" : ""} ${wide ? "wide" : ""}`}>
      <label for={id}>{field.label}{field.unit && <span class="unit"> {field.unit}</span>}</label>
      <Input {...props} id={id} />
      <FieldNote id={`${id}-note`} help={field.help} errors={errors}>
        {changed && (
          <button type="button" class="link-button tiny" onClick={() => props.onChange(parent ?? null)}>
            was {shown(parent)}, put back
          </button>
        )}
      </FieldNote>
    </div>
  );
}

export function FieldNote(props: { id: string; help: string; errors: readonly string[]; children?: ComponentChildren }) {
  return (
    <div id={props.id} class="field-note">
      {props.errors.length > 0 ? (
        props.errors.map((message) => <span key={message} class="field-error" role="alert">{message}</span>)
      ) : (
        <span class="field-help">{props.help}</span>
      )}
      {props.children}
    </div>
  );
}

function shown(value: Json | undefined): string {
  if (value === null || value === undefined) return "empty";
  return Array.isArray(value) ? `${value.length} entries` : String(value);
}

function Input({ field, value, errors, onChange, id }: Props & { id: string }) {
  const { input } = field;
  const common = { id, name: field.path, "aria-invalid": errors.length > 0, "aria-describedby": `${id}-note` };
  switch (input.kind) {
    case "choice":
      return (
        <select {...common} value={String(value ?? "")}
          onChange={(event) => onChange(input.choices.find((choice) => String(choice) === event.currentTarget.value) ?? null)}>
          {input.choices.map((choice) => <option key={choice} value={String(choice)}>{choice}</option>)}
        </select>
      );
    case "switch":
      return (
        <span class="switch-line"><input {...common} type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} /></span>
      );
    case "lines":
      return (
        <textarea {...common} rows={input.rows} value={Array.isArray(value) ? value.join("\n") : ""}
          onChange={(event) => onChange(event.currentTarget.value.split("\n").map((line) => line.trim()).filter(Boolean))} />
      );
    case "words":
      return (
        <input {...common} value={Array.isArray(value) ? value.join(", ") : ""}
          onChange={(event) => onChange(event.currentTarget.value.split(",").map((word) => word.trim()).filter(Boolean))} />
      );
    case "text":
      return <input {...common} value={String(value ?? "")} onInput={(event) => onChange(event.currentTarget.value)} />;
    default:
      return (
        <input {...common} type="number" min={input.min} step={input.step} inputMode="decimal"
          placeholder={input.optional ?? ""} value={value === null || value === undefined ? "" : String(value)}
          onInput={(event) => onChange(numeric(event.currentTarget.value, input.optional !== undefined))} />
      );
  }
}

/** An empty optional number is null; other text that is no number goes to the server as it is, which then says why. */
function numeric(text: string, optional: boolean): Json {
  if (text.trim() === "") return optional ? null : "";
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}
