/** Labels as an admin writes them, one `name: value` a line, and in words what they would move. */

import type { LaneMove } from "../../api/schema.ts";

export type Labels = Readonly<Record<string, string>>;

export function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => (value ? `${name}: ${value}` : name))
    .join("\n");
}

/** The labels of a text; a name that stands twice has its last value. The server says which names it does not take. */
export function labelsOf(text: string): Labels {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...value] = line.split(":");
      return [name.trim(), value.join(":").trim()];
    }),
  );
}

/** "4 lanes move from default to fast, 1 of them held: whoever holds it keeps it", for each pair of pools. */
export function movesTexts(moves: readonly LaneMove[]): string[] {
  const pairs = new Map<string, LaneMove[]>();
  for (const move of moves) {
    const pair = `from ${move.old} to ${move.new}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), move]);
  }
  return [...pairs].map(([pair, lanes]) => {
    const held = lanes.filter(({ is_held }) => is_held).length;
    const kept =
      held === 0
        ? ""
        : `, ${held} of them held: whoever holds ${held === 1 ? "it" : "them"} keeps ${held === 1 ? "it" : "them"}`;
    return lanes.length === 1 && lanes[0]
      ? `${lanes[0].lane} moves ${pair}${held ? "; whoever holds it keeps it" : ""}`
      : `${lanes.length} lanes move ${pair}${kept}`;
  });
}
