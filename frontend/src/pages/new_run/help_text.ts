/** The help of a field in two parts: its first sentence is always shown, the rest on demand. */

export interface HelpText {
  readonly lead: string;
  readonly rest: string;
}

/** A full stop ends the first sentence if white space follows: "FLUX.1" and "0.5" go on. */
const FIRST_SENTENCE = /^(.*?[.!?])\s/s;

export function splitHelp(text: string): HelpText {
  const lead = FIRST_SENTENCE.exec(text)?.[1] ?? text;
  return { lead, rest: text.slice(lead.length).trim() };
}
