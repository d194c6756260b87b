/** The names of metrics, with those that hold a reward's name. */

import type { Metric } from "./schema.ts";

/** `reward/part/{name}` stands for any name there. */
type Filled<Name extends string> = Name extends `${infer Before}{name}` ? `${Before}${string}` : Name;

/** The name of a metric that the engine may report. */
export type MetricKey = Filled<Metric>;
