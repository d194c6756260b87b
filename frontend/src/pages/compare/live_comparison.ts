/** The compared runs as they go on: those that change are read again, a few seconds after the first change.
 *
 *     socket of the user's projects: "run r changed" ──► a moment, in which more may ──► REST: r alone ──► in its place
 *
 * Invariant: a run that was read once stays until it can be read again, so that a lost connection blanks nothing.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ProjectsFrame } from "../../api/schema.ts";
import { serverNow } from "../../base/clock.ts";
import { hasEnded } from "../../base/run_state.ts";
import { type Connection, LiveSocket } from "../../live/live_socket.ts";
import { type ComparedRun, readRuns, type UnreadRun } from "./compared_run.ts";

/** Runs report by the second; curves of 300 points over hours show nothing of that. */
export const READ_AGAIN_MILLISECONDS = 4000;

export type Answers = readonly (ComparedRun | UnreadRun)[];

const idOf = (answer: ComparedRun | UnreadRun) => ("run" in answer ? answer.run.id : answer.id);

/** `answers` with the runs of `newer` in their places: as they were where those could not be read, and in their own
 * colours. */
export function updated(answers: Answers, newer: Answers): Answers {
  const found = new Map(newer.map((answer) => [idOf(answer), answer]));
  return answers.map((answer) => {
    const now = found.get(idOf(answer));
    if (now === undefined || ("id" in now && "run" in answer)) return answer;
    return "run" in now && "run" in answer ? { ...now, colour: answer.colour } : now;
  });
}

/** Gathers the ids that change, and passes them on together. */
export class Changes {
  private readonly ids = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly onChanged: (ids: readonly string[]) => void) {}

  add(id: string): void {
    this.ids.add(id);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const ids = [...this.ids];
      this.ids.clear();
      this.onChanged(ids);
    }, READ_AGAIN_MILLISECONDS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

export interface LiveComparison {
  /** Undefined until all were read once. */
  readonly answers: Answers | undefined;
  readonly reload: () => void;
  readonly connection: Connection;
  /** Server time when the connection was last known to hold. */
  readonly heardAt: number;
}

export function useLiveComparison(ids: readonly string[], keys: readonly string[]): LiveComparison {
  const [answers, setAnswers] = useState<Answers | undefined>(undefined);
  const [connection, setConnection] = useState<Connection>("connecting");
  const [heardAt, setHeardAt] = useState(serverNow);
  const [numReloads, setReloads] = useState(0);
  const asked = keys.join();
  const latest = useRef({ answers, asked });
  latest.current = { answers, asked };
  useEffect(() => {
    let isCurrent = true;
    void readRuns(ids, keys).then((read) => isCurrent && setAnswers(read));
    return () => {
      isCurrent = false;
    };
  }, [ids.join(), asked, numReloads]);
  useEffect(() => {
    let isCurrent = true;
    const readAgain = async (changed: readonly string[]) => {
      const { asked: before } = latest.current;
      const read = await readRuns(changed, before.split(","));
      // Of other curves an answer of its own is on its way.
      if (isCurrent && before === latest.current.asked) setAnswers((known) => known && updated(known, read));
    };
    const changes = new Changes((changed) => void readAgain(changed));
    const close = new LiveSocket<ProjectsFrame>(() => "/ws/v1/projects", {
      onFrame: ({ run }) => ids.includes(run.id) && changes.add(run.id),
      onReconnected: () => {
        for (const answer of latest.current.answers ?? [])
          if (!("run" in answer && hasEnded(answer.run))) changes.add(idOf(answer));
      },
      onConnection: (now) => {
        setConnection(now);
        setHeardAt(serverNow());
      },
    }).open();
    return () => {
      isCurrent = false;
      changes.stop();
      close();
    };
  }, [ids.join()]);
  return { answers, reload: () => setReloads((count) => count + 1), connection, heardAt };
}
