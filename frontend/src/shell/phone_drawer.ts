/** On phones the rail is a drawer: while it is open nothing behind it takes the focus, Tab goes round inside it, and
 * Escape, the ground behind it or a wider window close it and give the focus back to its button. */

const WIDE = "(min-width: 761px)";
const TAKES_FOCUS = "a[href], button:not(:disabled), select, summary";

export function installPhoneDrawer(button: HTMLElement, rail: HTMLElement, behind: readonly HTMLElement[]): void {
  const isOpen = () => rail.hasAttribute("data-open");

  const open = () => {
    rail.setAttribute("data-open", "");
    rail.setAttribute("role", "dialog");
    rail.setAttribute("aria-modal", "true");
    rail.setAttribute("aria-label", "Navigation");
    button.setAttribute("aria-expanded", "true");
    for (const element of behind) element.inert = true;
    focusable(rail)[0]?.focus();
  };

  const close = () => {
    if (!isOpen()) return;
    for (const name of ["data-open", "role", "aria-modal", "aria-label"]) rail.removeAttribute(name);
    button.setAttribute("aria-expanded", "false");
    // Before the focus: what is inert cannot take it.
    for (const element of behind) element.inert = false;
    button.focus();
  };

  button.addEventListener("click", open);
  rail.addEventListener("keydown", (event) => {
    if (!isOpen()) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") goRound(event, focusable(rail));
  });
  // The ground behind is drawn by the rail itself, outside its box.
  document.addEventListener("pointerdown", (event) => {
    if (isOpen() && !rail.contains(event.target as Node)) {
      event.preventDefault();
      close();
    }
  });
  matchMedia(WIDE).addEventListener("change", close);
}

/** What can be reached with Tab, in order; what is folded away is not. */
function focusable(rail: HTMLElement): HTMLElement[] {
  return [...rail.querySelectorAll<HTMLElement>(TAKES_FOCUS)].filter((element) => element.checkVisibility());
}

function goRound(event: KeyboardEvent, order: readonly HTMLElement[]): void {
  const [first, last] = [order[0], order.at(-1)];
  const [from, to] = event.shiftKey ? [first, last] : [last, first];
  if (document.activeElement !== from) return;
  event.preventDefault();
  to?.focus();
}
