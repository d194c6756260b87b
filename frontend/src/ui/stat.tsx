/** One figure with its name, what it counts as its definition, and a note, as its window or what it is compared with.
 * A figure that is not there yet keeps its place. */

import type { ComponentChildren } from "preact";
import { Defined } from "./term.tsx";

interface Props {
  readonly label: string;
  /** Numerator, denominator and window, in a sentence. */
  readonly definition: string;
  readonly value: ComponentChildren | null;
  readonly unit?: string | undefined;
  readonly note?: ComponentChildren;
  readonly tone?: "good" | "warn" | "bad" | undefined;
  /** Where the figure is broken down. */
  readonly href?: string | undefined;
}

export function Stat({ label, definition, value, unit, note, tone, href }: Props) {
  const figure = (
    <>
      {value ?? <span class="faint">–</span>}
      {value !== null && unit && <span class="stat-unit">{unit}</span>}
    </>
  );
  return (
    <div class={`stat ${tone ?? ""}`}>
      <dt>
        <Defined definition={definition}>{label}</Defined>
      </dt>
      <dd class="stat-value num">{href ? <a href={href}>{figure}</a> : figure}</dd>
      <dd class="stat-note">{note}</dd>
    </div>
  );
}

/** Figures side by side, with hairlines between them. */
export function Stats({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <dl class="stats" aria-label={label}>
      {children}
    </dl>
  );
}
