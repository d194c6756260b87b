/** The browser's own dialog: it traps focus, closes on Escape and gives focus back. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface Props {
  readonly title: string;
  readonly wide?: boolean;
  /** A drawer stands at the right, a palette near the top. */
  readonly kind?: "drawer" | "palette";
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog(props: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  const closeOnBackdrop = (event: MouseEvent) => {
    if (event.target === element.current) element.current?.close();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by the browser's own doing.
    <dialog
      ref={element}
      class={props.kind ?? (props.wide ? "wide" : "")}
      aria-label={props.title}
      onClose={props.onClose}
      onClick={closeOnBackdrop}
    >
      <div class="stack">
        <div class="row-between dialog-head">
          <h2>{props.title}</h2>
          <button type="button" class="button quiet small" aria-label="Close" onClick={() => element.current?.close()}>
            <Icon name="close" />
          </button>
        </div>
        {props.children}
      </div>
    </dialog>
  );
}

export function Confirm(props: {
  title: string;
  text: string;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const confirm = () => {
    props.onClose();
    props.onConfirm();
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p class="muted">{props.text}</p>
      <div class="row" style={{ justifyContent: "flex-end" }}>
        <button type="button" class="button" onClick={props.onClose}>
          Keep it
        </button>
        <button type="button" class="button danger" onClick={confirm}>
          {props.action}
        </button>
      </div>
    </Dialog>
  );
}
