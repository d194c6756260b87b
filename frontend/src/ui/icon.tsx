/** One icon of the set in public/tandem/icons.svg, which Django's templates use too. It says nothing to a screen reader:
 * what it stands for is written beside it, or is its button's label. */

export const ICON_NAMES = [
  "account",
  "activity",
  "admin",
  "api",
  "ascending",
  "bookmark",
  "check",
  "clock",
  "close",
  "columns",
  "compare",
  "dark",
  "density",
  "descending",
  "down",
  "download",
  "edit",
  "help",
  "home",
  "info",
  "lending",
  "left",
  "light",
  "log-out",
  "menu",
  "new",
  "pause",
  "pin",
  "play",
  "pool",
  "projects",
  "prompts",
  "queue",
  "rail",
  "right",
  "runs",
  "search",
  "sweeps",
  "system",
  "tag",
  "warning",
] as const;

export type IconName = (typeof ICON_NAMES)[number];

const SET = "/static/tandem/icons.svg";

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${SET}#${name}`} />
    </svg>
  );
}
