/** One labelled input of the form, with its unit, help, error and, in a rerun, what the parent had. */

import type { ComponentChildren } from "preact";
import { type Json, sameJson } from "../../base/paths.ts";
import { Coded } from "../../ui/coded.tsx";
import { EntriesInput } from "./entries.tsx";
import type { FieldSpec } from "./fields.ts";
import { splitHelp } from "./help_text.ts";
import type { FieldSchema } from "./spec_schema.ts";

interface Props {
  readonly field: FieldSpec;
  readonly schema: FieldSchema;
  readonly value: Json | undefined;
  readonly errors: readonly string[];
  /** The parent run's value, when this is a rerun. */
  readonly parent?: Json | undefined;
  readonly isRerun: boolean;
  /** Why the field does not apply now; empty where it does. */
  readonly whyNot: string;
  /** Values offered for a text. */
  readonly suggestions?: readonly string[] | undefined;
  readonly onChange: (value: Json) => void;
}

export function Field(props: Props) {
  const { field, errors, value, parent } = props;
  const id = `field-${field.path}`;
  const changed = props.isRerun && !sameJson(value ?? null, parent ?? null);
  return (
    <div class={`field ${changed ? "changed" : ""} ${field.list ? "wide" : ""} ${props.whyNot ? "off" : ""}`}>
      <label for={id}>
        {field.label}
        {field.unit && <span class="unit"> {field.unit}</span>}
      </label>
      <Input {...props} id={id} />
      <FieldNote
        id={`${id}-note`}
        help={props.whyNot || props.schema.help}
        choice={props.whyNot ? "" : helpOfChoice(props.schema, value)}
        errors={errors}
      >
        {changed && (
          <button type="button" class="link-button tiny" onClick={() => props.onChange(parent ?? null)}>
            was {shown(parent)}, put back
          </button>
        )}
      </FieldNote>
    </div>
  );
}

export function helpOfChoice(schema: FieldSchema, value: Json | undefined): string {
  return schema.choices.find((choice) => choice.value === value)?.help ?? "";
}

/** The errors, or else the help of the field and of the choice made. */
export function FieldNote(props: {
  id: string;
  help: string;
  choice?: string;
  errors: readonly string[];
  children?: ComponentChildren;
}) {
  return (
    <div id={props.id} class="field-note">
      {props.errors.length > 0 ? (
        props.errors.map((message) => (
          <span key={message} class="field-error" role="alert">
            <Coded text={message} />
          </span>
        ))
      ) : (
        <>
          {props.help && <Help text={props.help} />}
          {props.choice && <span class="field-help choice-help">{props.choice}</span>}
        </>
      )}
      {props.children}
    </div>
  );
}

/** The first sentence; a longer help unfolds from it. */
function Help({ text }: { text: string }) {
  const { lead, rest } = splitHelp(text);
  if (!rest) return <span class="field-help">{lead}</span>;
  return (
    <details class="field-help">
      <summary title="What is usual, and when to change it">{lead}</summary>
      {rest}
    </details>
  );
}

function shown(value: Json | undefined): string {
  if (value === null || value === undefined) return "empty";
  return Array.isArray(value) ? `${value.length} entries` : String(value);
}

function Input({ field, schema, value, errors, whyNot, suggestions, onChange, id }: Props & { id: string }) {
  const common = {
    id,
    name: field.path,
    disabled: whyNot !== "",
    "aria-invalid": errors.length > 0,
    "aria-describedby": `${id}-note`,
  };
  switch (schema.type) {
    case "choice":
      return <Choices {...common} schema={schema} value={value} onChange={onChange} />;
    case "boolean":
      return (
        <span class="switch-line">
          <input
            {...common}
            type="checkbox"
            checked={value === true}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
        </span>
      );
    case "list":
      return <EntriesInput {...common} list={field.list ?? "lines"} value={value} onChange={onChange} />;
    case "string":
      return (
        <>
          <input
            {...common}
            list={suggestions && `${id}-known`}
            value={String(value ?? "")}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          {suggestions && (
            <datalist id={`${id}-known`}>
              {suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      );
    default:
      return (
        <input
          {...common}
          type="number"
          min={schema.min}
          step={schema.step}
          inputMode="decimal"
          placeholder={field.empty ?? ""}
          value={value === null || value === undefined ? "" : String(value)}
          onInput={(event) => onChange(numeric(event.currentTarget.value, schema.optional))}
        />
      );
  }
}

interface ChoicesProps {
  readonly id: string;
  readonly disabled?: boolean;
  readonly schema: FieldSchema;
  readonly value: Json | undefined;
  readonly onChange: (value: Json) => void;
}

/** A drop-down of what the server accepts. */
export function Choices({ schema, value, onChange, ...input }: ChoicesProps) {
  const pick = (text: string) =>
    onChange(schema.choices.find((choice) => String(choice.value) === text)?.value ?? null);
  return (
    <select {...input} value={String(value ?? "")} onChange={(event) => pick(event.currentTarget.value)}>
      {schema.choices.map((choice) => (
        <option key={choice.value} value={String(choice.value)} title={choice.help}>
          {choice.value}
        </option>
      ))}
    </select>
  );
}

/** An empty optional number is null; other text that is no number goes to the server as it is, which then says why. */
function numeric(text: string, optional: boolean): Json {
  if (text.trim() === "") return optional ? null : "";
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}
