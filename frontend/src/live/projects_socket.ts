/** The runs list's websocket: it reports which runs changed; after a break the list is read again. */

import type { ProjectsFrame, RunRow } from "../api/schema.ts";
import { watchFrames } from "./watch_frames.ts";

interface Handlers {
  readonly onRun: (run: RunRow) => void;
  readonly onReconnected: () => void;
  readonly onLive: (live: boolean) => void;
}

export function watchProjects({ onRun, ...rest }: Handlers): () => void {
  return watchFrames<ProjectsFrame>("/ws/v1/projects", { onFrame: (frame) => onRun(frame.run), ...rest });
}
