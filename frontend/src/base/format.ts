/** Numbers, times and sizes as people read them. Every function takes what the API sends and never throws. */

const DASH = "–";

/** A number in at most `digits` significant digits: 0.0123, 1.2e-5, 12,345. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e");
  if (Number.isInteger(value)) return value.toLocaleString("en-GB");
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en-GB", { maximumFractionDigits: Math.min(decimals, 6) });
}

/** A share of one as a percentage: 0.4235 → "42 %". */
export function percent(share: number | null | undefined, decimals = 0): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return DASH;
  return `${(share * 100).toFixed(decimals)} %`;
}

/** A stretch of time: 0.42 s, 12 s, 3 min 05 s, 2 h 07 min, 3 d 4 h. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return DASH;
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(0)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
}

/** An estimated duration: 40 s, 11 min, 2 h 10 min, 3 d 4 h. */
export function roughly(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds / 5) * 5} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const tens = Math.round(seconds / 600);
  if (tens < 24 * 6) return `${Math.floor(tens / 6)} h ${(tens % 6) * 10} min`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How long ago, coarse: "just now", "4 min ago", "2 d ago". */
export function ago(seconds: number): string {
  if (!Number.isFinite(seconds)) return DASH;
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return DASH;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`;
}

/** Unix seconds of an ISO time or of a number already in Unix seconds; null when absent. */
export function unixSeconds(value: string | number | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  const milliseconds = Date.parse(value);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}

/** Clock time of the reader's zone, with the day when it is not today. */
export function clock(unix: number | null, withSeconds = true): string {
  if (unix === null) return DASH;
  const date = new Date(unix * 1000);
  const time = date.toLocaleTimeString("en-GB", withSeconds ? {} : { hour: "2-digit", minute: "2-digit" });
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${time}`;
}

/** Names whose spelling differs from their identifier. */
const SPELT: Readonly<Record<string, string>> = {
  ocr: "OCR",
  jpeg: "JPEG",
  url: "URL",
  kl: "KL",
  lora: "LoRA",
  ema: "EMA",
  deepspeed: "DeepSpeed",
  clip_score: "CLIP score",
  hps_v2: "HPS v2",
};

/** `shape_match` → "shape match", `jpeg_compressibility` → "JPEG compressibility". */
export function spelt(name: string): string {
  return (
    SPELT[name] ??
    name
      .split("_")
      .map((word) => SPELT[word] ?? word)
      .join(" ")
  );
}

/** The same, as a line begins: "Shape match". */
export function words(name: string): string {
  const text = spelt(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
