/** Small controls used on several pages. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RunState } from "../api/schema.ts";
import { toast } from "./toasts.tsx";

export function StatePill({ state }: { state: RunState }) {
  return <span class={`pill ${state}`}>{state}</span>;
}

export function Progress({ done, total }: { done: number; total: number }) {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  return (
    <div
      class="progress"
      role="progressbar"
      aria-valuenow={done}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-label="batches done"
    >
      <i style={{ width: `${share * 100}%` }} />
    </div>
  );
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: ComponentChildren;
}

export function Segmented<T extends string>(props: {
  label: string;
  choices: readonly Choice<T>[];
  /** Null: none is chosen yet. */
  value: T | null;
  onChange: (value: T) => void;
}) {
  return (
    <div class="segmented" role="group" aria-label={props.label}>
      {props.choices.map(({ value, label }) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {label}
        </button>
      ))}
    </div>
  );
}

export function CopyButton({ text, label = "Copy", large = false }: { text: string; label?: string; large?: boolean }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      toast("The browser did not allow copying here: select the text and copy it by hand.", "bad");
    }
  };
  return (
    <button type="button" class={`button ${large ? "" : "small"}`} onClick={() => void copy()}>
      {copied ? "Copied" : label}
    </button>
  );
}

/** Scroll a row of links or tabs, and nothing else, until this one of them is seen. */
export function showSideways(one: HTMLElement | null): void {
  const row = one?.parentElement;
  if (one && row) row.scrollLeft = one.offsetLeft - row.offsetLeft - (row.clientWidth - one.offsetWidth) / 2;
}

/** A tab list with arrow keys, as the ARIA practices describe it. */
export function Tabs(props: {
  tabs: readonly { id: string; label: string; count?: number | undefined }[];
  current: string;
  onSelect: (id: string) => void;
}) {
  useEffect(() => showSideways(document.getElementById(`tab-${props.current}`)), [props.current]);
  const move = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.stopPropagation();
    const index = props.tabs.findIndex((tab) => tab.id === props.current);
    const next = props.tabs[(index + by + props.tabs.length) % props.tabs.length];
    if (!next) return;
    props.onSelect(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" onKeyDown={move}>
      {props.tabs.map((tab) => (
        <button
          key={tab.id}
          id={`tab-${tab.id}`}
          type="button"
          role="tab"
          aria-selected={tab.id === props.current}
          tabIndex={tab.id === props.current ? 0 : -1}
          onClick={() => props.onSelect(tab.id)}
        >
          {tab.label}
          {tab.count !== undefined && tab.count > 0 && <span class="count">{tab.count}</span>}
        </button>
      ))}
    </div>
  );
}
