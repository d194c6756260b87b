/** A canvas context that keeps what was painted, for tests of drawing. */

import { layoutOf } from "../timeline/layout.ts";
import type { CanvasTheme, Scene } from "../timeline/scene.ts";
import type { View } from "../timeline/view.ts";

/** One call of the context, with the colour in force. */
export interface Painted {
  readonly what: string;
  readonly args: readonly (number | string)[];
  readonly ink: string;
}

const PIXELS_PER_LETTER = 6;

/** The context and the list that grows as it is painted on. Text is six pixels a letter. */
export function fakeCanvas(): { context: CanvasRenderingContext2D; painted: Painted[] } {
  const painted: Painted[] = [];
  const state: Record<string, unknown> = { fillStyle: "", strokeStyle: "" };
  const context = new Proxy(state, {
    get(target, name: string) {
      if (name === "measureText") return (text: string) => ({ width: text.length * PIXELS_PER_LETTER });
      if (name in target) return target[name];
      return (...args: (number | string)[]) => {
        const ink = name.startsWith("stroke") ? target.strokeStyle : target.fillStyle;
        painted.push({ what: name, args, ink: String(ink) });
      };
    },
    set(target, name: string, value: unknown) {
      target[name] = value;
      return true;
    },
  });
  return { context: context as unknown as CanvasRenderingContext2D, painted };
}

/** CanvasTheme whose colours are their own names. */
export const THEME: CanvasTheme = {
  colour: (name) => name,
  faded: (name, alpha) => `${name}/${alpha}`,
  fontFamily: "sans",
  idle: "idle hatching",
};

/** A scene 632 pixels wide, of which 500 show the window: a window of 50 s has 10 pixels a second. */
export function sceneOf(view: Omit<View, "follow">, numLanes: number, hasQueues = false) {
  const { context, painted } = fakeCanvas();
  const layout = { ...layoutOf(640, numLanes, hasQueues), width: 632 };
  const scene: Scene = { context, theme: THEME, layout, view: { ...view, follow: false }, origin: view.from };
  return { scene, painted };
}

/** What was painted by one method. */
export function calls(painted: readonly Painted[], what: string): readonly Painted[] {
  return painted.filter((one) => one.what === what);
}
