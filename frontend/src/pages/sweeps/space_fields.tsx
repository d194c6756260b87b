/** The swept settings: a row for each, with its range. */

import type { ComponentChildren } from "preact";
import type { FieldErrors } from "../../api/client.ts";
import { Coded } from "../../ui/coded.tsx";
import { Segmented } from "../../ui/controls.tsx";
import { Icon } from "../../ui/icon.tsx";
import { newRange, type RangeDraft, type RangeKind, type SweepDraft, sweepable } from "./sweep_draft.ts";
import { errorsAt } from "./sweep_preview.ts";

export interface DraftProps {
  readonly draft: SweepDraft;
  readonly errors: FieldErrors;
  readonly onChange: (changes: Partial<SweepDraft>) => void;
}

const KINDS: readonly { readonly value: RangeKind; readonly label: string }[] = [
  { value: "choice", label: "one of" },
  { value: "log_uniform", label: "log-uniform" },
  { value: "uniform", label: "uniform" },
  { value: "int", label: "whole number" },
];
const SAMPLERS = [
  { value: "grid", label: "Grid" },
  { value: "random", label: "Random" },
] as const;

export function SpaceFields({ draft, errors, onChange }: DraftProps) {
  const paths = sweepable(draft.spec);
  const replace = (range: RangeDraft) =>
    onChange({ ranges: draft.ranges.map((one) => (one.id === range.id ? range : one)) });
  const remove = (id: number) => onChange({ ranges: draft.ranges.filter((one) => one.id !== id) });
  return (
    <section class="card stack" aria-label="Space">
      <div class="row-between">
        <h2>Space</h2>
        <Segmented
          label="Sampler"
          choices={SAMPLERS}
          value={draft.sampler}
          onChange={(sampler) => onChange({ sampler })}
        />
      </div>
      <datalist id="sweepable">
        {paths.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {draft.ranges.map((range) => (
        <RangeRow
          key={range.id}
          range={range}
          isGrid={draft.sampler === "grid"}
          errors={errorsAt(errors, `sweep.space.${range.field.trim()}`)}
          onChange={replace}
          onRemove={draft.ranges.length > 1 ? () => remove(range.id) : null}
        />
      ))}
      <Errors messages={errors["sweep.space"] ?? []} />
      <div class="row-between">
        <button type="button" class="button small" onClick={() => onChange({ ranges: [...draft.ranges, newRange()] })}>
          <Icon name="new" /> Add a setting
        </button>
        {draft.sampler === "random" && (
          <div class="row">
            <NumberField label="Points" value={draft.numPoints} onInput={(numPoints) => onChange({ numPoints })} />
            <NumberField
              label="Seed of the draws"
              value={draft.samplerSeed}
              onInput={(samplerSeed) => onChange({ samplerSeed })}
            />
          </div>
        )}
      </div>
      <Errors messages={errorsAt(errors, "sweep.sampler")} />
    </section>
  );
}

interface RangeProps {
  readonly range: RangeDraft;
  readonly isGrid: boolean;
  readonly errors: readonly string[];
  readonly onChange: (range: RangeDraft) => void;
  readonly onRemove: (() => void) | null;
}

function RangeRow({ range, isGrid, errors, onChange, onRemove }: RangeProps) {
  const set = (changes: Partial<RangeDraft>) => onChange({ ...range, ...changes });
  const isInvalid = errors.length > 0;
  return (
    <div class="range-row">
      <label class="field range-field">
        <span>Setting</span>
        <input
          class="mono"
          list="sweepable"
          value={range.field}
          placeholder="lora.rank"
          aria-invalid={isInvalid}
          onInput={(event) => set({ field: event.currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>Range</span>
        <select value={range.kind} onChange={(event) => set({ kind: event.currentTarget.value as RangeKind })}>
          {KINDS.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {range.kind === "choice" ? (
        <label class="field range-values">
          <span>Values</span>
          <input
            value={range.values}
            placeholder="8, 16, 32"
            onInput={(event) => set({ values: event.currentTarget.value })}
          />
        </label>
      ) : (
        <>
          <NumberField label="From" value={range.low} onInput={(low) => set({ low })} />
          <NumberField label="To" value={range.high} onInput={(high) => set({ high })} />
          {range.kind === "int" ? (
            <NumberField label="Step" value={range.step} onInput={(step) => set({ step })} />
          ) : (
            isGrid && <NumberField label="Values" value={range.numValues} onInput={(numValues) => set({ numValues })} />
          )}
        </>
      )}
      {onRemove && (
        <button
          type="button"
          class="button quiet small range-remove"
          aria-label={`Remove ${range.field}`}
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      )}
      <Errors messages={errors} />
    </div>
  );
}

export function NumberField(props: {
  label: ComponentChildren;
  value: string;
  placeholder?: string;
  onInput: (value: string) => void;
}) {
  return (
    <label class="field number-field">
      <span>{props.label}</span>
      <input
        inputMode="decimal"
        value={props.value}
        placeholder={props.placeholder}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </label>
  );
}

/** Many points tend to be refused for one reason. */
const MAX_SHOWN = 3;

export function Errors({ messages }: { messages: readonly string[] }) {
  if (messages.length === 0) return null;
  return (
    <div class="range-errors" role="alert">
      {messages.slice(0, MAX_SHOWN).map((message) => (
        <p key={message} class="field-error">
          <Coded text={message} />
        </p>
      ))}
    </div>
  );
}
