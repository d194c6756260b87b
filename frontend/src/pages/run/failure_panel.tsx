/** Why a run failed: the reason in one sentence, where it happened, what to try, the last lines it wrote. */

import type { Run } from "../../api/schema.ts";
import { words } from "../../base/format.ts";
import { Coded } from "../../ui/coded.tsx";
import { CopyButton } from "../../ui/controls.tsx";

export function FailurePanel({ run }: { run: Run }) {
  const failure = run.failure;
  if (run.state !== "failed" || !failure) return null;
  const details = [failure.details, failure.log_tail].filter(Boolean).join("\n\n");
  return (
    <section class="card failure" aria-label="Why it failed">
      <div class="stack-s">
        <h2>Why it failed</h2>
        <p class="failure-reason">
          <Coded text={failure.reason} />
        </p>
        {failure.phase && (
          <p class="small muted">
            It happened during: {words(failure.phase).toLowerCase()} (attempt {run.attempt} of {run.max_attempts}).
          </p>
        )}
        {failure.suggestions.length > 0 && (
          <div>
            <h3>What to try</h3>
            <ul class="bullets">
              {failure.suggestions.map((advice) => (
                <li key={advice}>
                  <Coded text={advice} />
                </li>
              ))}
            </ul>
          </div>
        )}
        <div class="row">
          <a class="button primary" href={`/runs/new?from=${run.id}`}>
            Edit and rerun
          </a>
          <a class="button" href="#logs">
            Read the logs
          </a>
          {details && <CopyButton text={`${failure.reason}\n\n${details}`} label="Copy the report" large />}
        </div>
      </div>
      {details && (
        <details open>
          <summary class="small muted">Last log lines</summary>
          <pre class="code" ref={toItsEnd}>
            {details}
          </pre>
        </details>
      )}
    </section>
  );
}

/** Scrolls to the last lines, which hold the reason. */
function toItsEnd(element: HTMLElement | null): void {
  if (element) element.scrollTop = element.scrollHeight;
}
