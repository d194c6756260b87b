/** The colours of tokens.css for tests: as a display shows them, and as colour-blind eyes see them. */

import { stylesheet } from "./committed.ts";

export type Theme = "light" | "dark";
export const THEMES: readonly Theme[] = ["light", "dark"];

/** Linear red, green and blue, each from 0 to 1. */
type Rgb = readonly [number, number, number];
type Matrix = readonly [Rgb, Rgb, Rgb];

const TOKEN = /--([\w-]+):\s*light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g;
const tokens = new Map(
  [...stylesheet("tokens").matchAll(TOKEN)].map(([, name = "", light = "", dark = ""]) => [name, { light, dark }]),
);

export function token(name: string, theme: Theme): Rgb {
  const hex = tokens.get(name)?.[theme];
  if (hex === undefined) throw new Error(`tokens.css gives --${name} no colour for light and dark`);
  return [1, 3, 5].map((at) => linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255)) as unknown as Rgb;
}

// The transfer function of sRGB (IEC 61966-2-1).
const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const encoded = (value: number) => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055);

/** CSS `color-mix(in srgb, one share, other)`. */
export function mix(one: Rgb, share: number, other: Rgb): Rgb {
  return one.map((value, index) =>
    linear(encoded(value) * share + encoded(other[index] ?? 0) * (1 - share)),
  ) as unknown as Rgb;
}

/** WCAG 2.2's contrast ratio, from 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const luminance = ([red, green, blue]: Rgb) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** What dichromats see of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1. */
const VISIONS: Readonly<Record<string, Matrix>> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const VISION_MATRICES = Object.values(VISIONS);

/** Björn Ottosson's Oklab, in which equal distances look equally different. */
const TO_CONES: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_OKLAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];

const times = (matrix: Matrix, [x, y, z]: Rgb): Rgb =>
  matrix.map(([a, b, c]) => a * x + b * y + c * z) as unknown as Rgb;
const inGamut = (colour: Rgb) => colour.map((value) => Math.min(1, Math.max(0, value))) as unknown as Rgb;
const oklab = (colour: Rgb) => times(TO_OKLAB, times(TO_CONES, colour).map(Math.cbrt) as unknown as Rgb);

/** The smallest distance in Oklab between two colours, over full vision and the three kinds of dichromacy. */
export function distance(one: Rgb, other: Rgb): number {
  const distances = VISION_MATRICES.map((seen) => {
    const [a, b] = [oklab(inGamut(times(seen, one))), oklab(inGamut(times(seen, other)))];
    return Math.hypot(...a.map((value, index) => value - (b[index] ?? 0)));
  });
  return Math.min(...distances);
}
