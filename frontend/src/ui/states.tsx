/** How a panel looks while it loads, when it is empty and when it could not be read: the same everywhere. */

import type { ComponentChildren } from "preact";

export function Loading({ label = "Loading" }: { label?: string }) {
  return (
    <div class="stack-s" role="status" aria-label={label}>
      <div class="loading-bar" style={{ width: "60%" }} />
      <div class="loading-bar" style={{ width: "85%" }} />
      <div class="loading-bar" style={{ width: "40%" }} />
    </div>
  );
}

/** `action`: the button or link by which the panel gets something to show. */
export function Empty(props: { title: string; children?: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{props.title}</strong>
      {props.children && <p class="small">{props.children}</p>}
      {props.action}
    </div>
  );
}

export function Failed({ message, onRetry }: { message: string; onRetry?: () => void }) {
  return (
    <div class="notice bad row-between" role="alert">
      <span>{message}</span>
      {onRetry && (
        <button type="button" class="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
