/** What an import made: the settings that were left out, with why, and those that were carried, from what. */

import type { ComponentChildren } from "preact";
import type { ImportedSpec } from "../../api/schema.ts";
import type { Json } from "../../base/paths.ts";
import { inWords } from "../../base/spec_words.ts";
import { Coded } from "../../ui/coded.tsx";

export function ImportOutcome({ found }: { found: ImportedSpec }) {
  return (
    <div class="stack">
      <Settings title="Left out" count={found.left_out.length} columns={["Setting there", "Value", "Why"]}>
        {found.left_out.map(({ source, value, why }) => (
          <Row key={source} name={source} value={value as Json}>
            <Coded text={why} />
          </Row>
        ))}
      </Settings>
      <Settings title="Carried" count={found.carried.length} columns={["Setting", "Value", "From"]}>
        {found.carried.map(({ path, value, source }) => (
          <Row key={path} name={path} value={value as Json}>
            {source}
          </Row>
        ))}
      </Settings>
      <p class="small muted">Prompts are never carried, and rewards only from flow_grpo: add what is missing.</p>
    </div>
  );
}

interface SettingsProps {
  readonly title: string;
  readonly count: number;
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

function Settings({ title, count, columns, children }: SettingsProps) {
  if (count === 0) return null;
  return (
    <section class="imported">
      <h3>
        {title} <span class="faint num">{count}</span>
      </h3>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

function Row({ name, value, children }: { name: string; value: Json; children: ComponentChildren }) {
  return (
    <tr>
      <th scope="row" class="mono">
        {name}
      </th>
      <td class="mono">{inWords(value)}</td>
      <td class="muted">{children}</td>
    </tr>
  );
}
