/** A word of the glossary with its definition, under the pointer or with the keyboard's focus. */

import { useId, useState } from "preact/hooks";
import { GLOSSARY, type GlossaryWord, partsOf } from "../base/glossary.ts";

/** The tooltip's width in CSS pixels, as in the style sheet, and its distance from the word. */
const [WIDTH, DISTANCE] = [300, 6];

interface Place {
  readonly left: number;
  readonly top: number;
}

export function Term({ word, children }: { word: GlossaryWord; children: string }) {
  return <Defined definition={GLOSSARY[word]}>{children}</Defined>;
}

/** Any words with a definition of their own, as the name of a figure. */
export function Defined({ definition, children }: { definition: string; children: string }) {
  const id = useId();
  const [place, setPlace] = useState<Place | null>(null);
  // Fixed to the window, so that no scrolling table cuts it off.
  const show = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    const { left, bottom } = currentTarget.getBoundingClientRect();
    setPlace({ left: Math.max(0, Math.min(left, window.innerWidth - WIDTH)), top: bottom + DISTANCE });
  };
  const hide = () => setPlace(null);
  return (
    <dfn
      class="term"
      tabIndex={0}
      aria-describedby={id}
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={(event) => event.key === "Escape" && hide()}
    >
      {children}
      <span id={id} role="tooltip" class="term-definition" hidden={place === null} style={{ ...place }}>
        {definition}
      </span>
    </dfn>
  );
}

/** A sentence in which the first occurrence of each word of the glossary is a `Term`. */
export function Terms({ children }: { children: string }) {
  return (
    <>{partsOf(children).map(({ text, word }) => (word ? <Term key={word} word={word} children={text} /> : text))}</>
  );
}
