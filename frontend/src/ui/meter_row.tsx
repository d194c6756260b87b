/** A row of a list that measures something of a whole: its name, the measure in words, and a bar. */

import type { ComponentChildren } from "preact";

interface Props {
  readonly name: string;
  /** What the bar measures, for those who do not see it. */
  readonly label: string;
  readonly text: string;
  readonly value: number;
  readonly max: number;
  /** The parts of the bar. */
  readonly parts: ComponentChildren;
  /** What stands below it. */
  readonly children: ComponentChildren;
}

export function MeterRow({ name, label, text, value, max, parts, children }: Props) {
  return (
    <li>
      <div class="row-between">
        <b>{name}</b>
        <span class="small muted">{text}</span>
      </div>
      <div
        class="quota-bar"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={value}
        aria-valuetext={text}
      >
        {parts}
      </div>
      {children}
    </li>
  );
}
