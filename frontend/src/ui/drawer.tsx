/** Details at the right of what they belong to: beside it while there is room (`Inspector`), or over it (`Drawer`). */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Over the page, at its right: it traps the focus, closes on Escape and gives the focus back. */
export function Drawer({ title, onClose, children }: Props) {
  return (
    <Dialog title={title} kind="drawer" onClose={onClose}>
      {children}
    </Dialog>
  );
}

/** Beside the page's content, which stays in use. Escape inside it closes it. */
export function Inspector({ title, onClose, children }: Props) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      const { current } = element;
      if (current?.contains(document.activeElement) && before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <aside
      ref={element}
      class="side-inspector stack"
      aria-label={title}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <div class="row-between">
        <h2 class="truncate">{title}</h2>
        <button type="button" class="button quiet small" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </aside>
  );
}
