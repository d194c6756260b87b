/** The run of the form as code: the same request with curl or Python, following every change. */

import { useState } from "preact/hooks";
import { CopyButton, Segmented } from "../../ui/controls.tsx";
import { equivalentCurl } from "./curl.ts";
import type { FormModel } from "./form_model.ts";
import { equivalentPython } from "./python_code.ts";

const LANGUAGES = { curl: equivalentCurl, python: equivalentPython } as const;

export function AsCode({ model }: { model: FormModel }) {
  const [language, setLanguage] = useState<keyof typeof LANGUAGES>("curl");
  const [isOpen, setOpen] = useState(false);
  const code = isOpen ? LANGUAGES[language](location.origin, model.newRun) : "";
  return (
    <details class="card as-code" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="small">As code</summary>
      {isOpen && (
        <div class="stack-s">
          <div class="row-between">
            <Segmented
              label="Language"
              value={language}
              onChange={setLanguage}
              choices={[
                { value: "curl", label: "curl" },
                { value: "python", label: "Python" },
              ]}
            />
            <CopyButton text={code} />
          </div>
          <pre class="code" tabIndex={0}>
            {code}
          </pre>
          <p class="tiny muted">
            Reads <code>TANDEM_TOKEN</code>, a token that may write runs: <a href="/account">make one</a>.
          </p>
        </div>
      )}
    </details>
  );
}
