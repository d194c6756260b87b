/** A secret that the server shows once: to be copied now. */

import { CopyButton } from "./controls.tsx";

interface Props {
  readonly secret: string;
  /** What it is, in a sentence that ends with why it must be copied. */
  readonly text: string;
  /** Words of the button, such as "Copy the token". */
  readonly copy: string;
  readonly onDone: () => void;
}

export function SecretOnce({ secret, text, copy, onDone }: Props) {
  return (
    <div class="notice good stack-s" role="status" style={{ flexDirection: "column" }}>
      <b>{text}</b>
      <code class="secret">{secret}</code>
      <div class="row">
        <CopyButton text={secret} label={copy} />
        <button type="button" class="button small" onClick={onDone}>
          Done
        </button>
      </div>
    </div>
  );
}

/** Of a token. */
export const TOKEN_TEXT = "Copy it now: it is shown this once and kept only as a hash.";
