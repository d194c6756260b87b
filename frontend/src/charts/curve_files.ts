/** A panel's curves as files: CSV and JSON of the points, PNG of what is drawn. */

import type { Curves } from "../api/schema.ts";

type Series = Curves["series"];

const COLUMNS = ["batch", "optimizer_step", "at", "value", "min", "max"] as const;

/** One line a point, the metric first; `at` is Unix time in seconds. */
export function csvOf(series: Series): string {
  const lines = Object.entries(series).flatMap(([key, curve]) =>
    curve.value.map((_, index) => [quoted(key), ...COLUMNS.map((column) => curve[column][index])].join(",")),
  );
  return `${["metric", ...COLUMNS].join(",")}\n${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Have the browser save a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Room above the chart for its title, in CSS pixels. */
const TITLE_HEIGHT = 30;

/** The chart with its title on the page's own ground, as sharp as on screen. */
export function pictureOf(chart: HTMLCanvasElement, title: string): Promise<Blob> {
  const ratio = devicePixelRatio;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [chart.width, chart.height + TITLE_HEIGHT * ratio];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser has no canvas to draw the picture on");
  const style = getComputedStyle(chart);
  const root = getComputedStyle(document.documentElement);
  context.fillStyle = root.getPropertyValue("--surface");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = root.getPropertyValue("--ink");
  context.font = `600 ${13 * ratio}px ${style.fontFamily}`;
  context.fillText(title, 10 * ratio, 20 * ratio);
  context.drawImage(chart, 0, TITLE_HEIGHT * ratio);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))), "image/png");
  });
}
