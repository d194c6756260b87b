/** Keys of the runs table outside of fields: j and k move, x chooses, Enter opens. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedRun } from "../../api/schema.ts";
import { isTypedElsewhere } from "../../shell/shortcuts.ts";
import type { TableLines } from "./table_lines.ts";

interface Table {
  readonly lines: TableLines;
  readonly runAt: (index: number) => ListedRun | undefined;
  readonly scrollTo: (index: number) => void;
  readonly onToggle: (id: string) => void;
}

/** The line that the keys are at; -1 before the first key. */
export function useTableKeys(table: Table): number {
  const [current, setCurrent] = useState(-1);
  const latest = useRef({ table, current });
  latest.current = { table, current };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTypedElsewhere(event)) return;
      const { table, current } = latest.current;
      const run = table.runAt(current);
      if (event.key === "j" || event.key === "k") {
        const next = table.lines.nextRow(current, event.key === "j" ? 1 : -1);
        setCurrent(next);
        if (next >= 0) table.scrollTo(next);
      } else if (event.key === "x" && run) table.onToggle(run.id);
      else if (event.key === "Enter" && run && event.target === document.body) location.assign(`/runs/${run.id}`);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return current;
}
