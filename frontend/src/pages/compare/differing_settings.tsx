/** The settings in which the compared runs differ, by section, one row each; all of them when asked for. */

import { useState } from "preact/hooks";
import { isObject } from "../../base/paths.ts";
import { Empty } from "../../ui/states.tsx";
import type { ComparedRun } from "./compared_run.ts";
import { RunsHead } from "./run_label.tsx";
import { type SettingRow, type SettingSection, settingSections, settingText } from "./setting_rows.ts";

export function DifferingSettings({ runs }: { runs: readonly ComparedRun[] }) {
  const [showsAll, setShowsAll] = useState(false);
  const sections = settingSections(runs.map(({ run }) => run.spec).filter(isObject));
  const all = sections.flatMap(({ rows }) => rows);
  const numDiffering = all.filter(({ isSame }) => !isSame).length;
  const shown = sections
    .map((section) => ({ ...section, rows: section.rows.filter(({ isSame }) => showsAll || !isSame) }))
    .filter(({ rows }) => rows.length > 0);
  return (
    <section class="card flush" aria-label="Settings that differ">
      <div class="card-head">
        <h2>Settings that differ</h2>
        <span class="tiny faint num">
          {numDiffering} of {all.length}
        </span>
        <label class="check small compare-against">
          <input type="checkbox" checked={showsAll} onChange={() => setShowsAll(!showsAll)} />
          Show all
        </label>
      </div>
      {shown.length === 0 ? (
        <Empty title="All settings are the same">The runs repeat one another: what differs below is noise.</Empty>
      ) : (
        <div class="table-wrap" tabIndex={0} role="region" aria-label="Settings of each run">
          <table class="compare-settings">
            <RunsHead of="Setting" runs={runs} />
            {shown.map((section) => (
              <Section key={section.key} section={section} numRuns={runs.length} />
            ))}
          </table>
        </div>
      )}
    </section>
  );
}

function Section({ section, numRuns }: { section: SettingSection; numRuns: number }) {
  const isOneSetting = section.rows.length === 1 && section.rows[0]?.path === section.key;
  return (
    <tbody>
      {!isOneSetting && (
        <tr class="compare-section">
          <th scope="colgroup" colSpan={numRuns + 1}>
            {section.title}
          </th>
        </tr>
      )}
      {section.rows.map((row) => (
        <Setting key={row.path} row={row} />
      ))}
    </tbody>
  );
}

/** The first run's value is what the others are held against. */
function Setting({ row }: { row: SettingRow }) {
  const texts = row.values.map(settingText);
  return (
    <tr class={row.isSame ? "same" : ""}>
      <td title={row.path}>
        {row.label} {row.unit && <span class="faint">{row.unit}</span>}
      </td>
      {texts.map((text, index) => (
        <td
          key={index}
          class={`num mono ${text === texts[0] ? "" : "other"}`}
          title={JSON.stringify(row.values[index])}
        >
          {text}
        </td>
      ))}
    </tr>
  );
}
