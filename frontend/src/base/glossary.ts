/** The words that Tandem keeps from its own field and a newcomer may not know, as `deploy/docs/reference/glossary.md`
 * defines them; a test holds the two equal. */

export const GLOSSARY = {
  batch:
    "num_prompts_per_batch groups, all drawn by one policy version. At its end the version rises by 1 and is published. " +
    "Run length, evaluation and checkpoint intervals are counted in batches.",
  group:
    "The trajectories of one prompt in one batch; group_size is their number. Advantages compare siblings of a group.",
  fragment:
    "Some trajectories of one group, generated at once by one lane; fragment_size is their number. It is the unit of " +
    "work for generation and scoring.",
  lane:
    "One GPU, or several of one node, or a CPU slot, that works for a run in one role: rollout, trainer or reward. In " +
    "Ray a lane is one actor in one placement group.",
  gang:
    "The trainer lanes of a run together: one torch.distributed group whose ranks do everything together. Also the " +
    "lanes that a run is granted at once, all or none (“whole gangs”).",
  lend:
    "A trainer lane that has nothing to train may be lent: it generates a few fragments, then is returned to training. " +
    "One such stretch is a loan.",
  fork:
    "A run that begins from a checkpoint of another, its parent, and counts on from that checkpoint's batch with " +
    "settings of its own.",
  bubble: "Time in which a lane idles while its run lives. Each has a cause.",
  spool:
    "The driver's event file on its local disk. Events stay there, numbered without gaps, until the web has " +
    "acknowledged them.",
  "optimised reward": "The weighted sum of the rewards that training maximises.",
  "monitored reward":
    "A reward that is measured but not optimised (watched: true in the spec). It shows whether a rise of the optimised " +
    "reward is real.",
  "reward hacking":
    "The optimised reward rises because its weaknesses are exploited, not because samples get better. It is suspected " +
    "while the optimised reward rises and a monitored one falls, both beyond their noise.",
  "held-out reward":
    "Mean of the optimised reward over the samples of an evaluation, whose seeds are never trained on.",
  accuracy: "Share of an evaluation's samples to which a reward that says right or wrong gives 1.",
  throughput:
    "Trajectories trained on in the last 8 batches, divided by the wall time of these batches, pauses included.",
  "busy share":
    "Lane time spent on any work, divided by the lane time that was not paused. The rest is idle, or no lane reported it.",
  "expected end":
    "The batches that are left, times the mean time of the last 8 batches; the range is that of the mean, plus and " +
    "minus two standard errors.",
  staleness: "The version being trained minus the version that drew the trajectory. max_staleness bounds it: 0 or 1.",
} as const;

export type GlossaryWord = keyof typeof GLOSSARY;

/** How the words occur in sentences. */
const FORMS: Readonly<Record<string, GlossaryWord>> = {
  batch: "batch",
  batches: "batch",
  group: "group",
  groups: "group",
  fragment: "fragment",
  fragments: "fragment",
  lane: "lane",
  lanes: "lane",
  gang: "gang",
  gangs: "gang",
  lend: "lend",
  lending: "lend",
  lent: "lend",
  loan: "lend",
  bubble: "bubble",
  bubbles: "bubble",
  spool: "spool",
  staleness: "staleness",
};

export interface Part {
  readonly text: string;
  /** The word that the text is a form of; absent between such words. */
  readonly word?: GlossaryWord;
}

/** A sentence cut at the first occurrence of each word of the glossary. */
export function partsOf(sentence: string): Part[] {
  const parts: Part[] = [];
  const seen = new Set<GlossaryWord>();
  let rest = "";
  for (const text of sentence.split(/\b/)) {
    const word = FORMS[text.toLowerCase()];
    // A mini-batch is no batch.
    if (word === undefined || seen.has(word) || rest.endsWith("-")) {
      rest += text;
      continue;
    }
    seen.add(word);
    if (rest) parts.push({ text: rest });
    parts.push({ text, word });
    rest = "";
  }
  return rest ? [...parts, { text: rest }] : parts;
}
