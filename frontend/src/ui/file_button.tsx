/** A button that opens a file of the user's. */

import { useEffect, useRef } from "preact/hooks";

interface Props {
  readonly label: string;
  /** Endings of the files that are offered first, with commas between. */
  readonly accept: string;
  readonly onFile: (file: File) => void;
}

export function FileButton({ label, accept, onFile }: Props) {
  const input = useRef<HTMLInputElement>(null);
  // The same file may be chosen again once it was corrected.
  useEffect(() => {
    if (input.current) input.current.value = "";
  });
  return (
    <label class="button">
      {label}
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        accept={accept}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) onFile(file);
        }}
      />
    </label>
  );
}
