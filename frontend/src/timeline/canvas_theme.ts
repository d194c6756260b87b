/** The stylesheet's colours and font for the timeline's canvas. */

import { colour, faded, fontFamily } from "../base/palette.ts";
import type { CanvasTheme } from "./scene.ts";

/** The hatching's period, in CSS pixels. */
const HATCH_PIXELS = 6;

let hatch: { key: string; pattern: CanvasPattern | string } | undefined;

export function canvasTheme(context: CanvasRenderingContext2D): CanvasTheme {
  return {
    colour,
    faded: (name, alpha) => faded(colour(name), alpha),
    fontFamily: fontFamily(),
    idle: idlePattern(context),
  };
}

/** Made once for each theme and pixel ratio. */
function idlePattern(context: CanvasRenderingContext2D): CanvasPattern | string {
  const back = colour("--span-idle");
  const line = colour("--span-idle-line");
  const scale = devicePixelRatio;
  const key = `${back}${line}${scale}`;
  if (hatch?.key === key) return hatch.pattern;
  const tile = document.createElement("canvas");
  const size = Math.round(HATCH_PIXELS * scale);
  tile.width = tile.height = size;
  const paint = tile.getContext("2d");
  if (!paint) return back;
  paint.fillStyle = back;
  paint.fillRect(0, 0, size, size);
  paint.strokeStyle = line;
  paint.lineWidth = scale;
  paint.beginPath();
  for (const shift of [-size, 0, size]) {
    paint.moveTo(shift, size);
    paint.lineTo(shift + size, 0);
  }
  paint.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / scale));
  hatch = { key, pattern: pattern ?? back };
  return hatch.pattern;
}
