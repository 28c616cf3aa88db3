import { decimalIn } from "./decimal.ts";

const UNITS: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** Reads `500MB` or `1.5 GB` as bytes. A number without a unit is not a size. */
export function parseSize(text: string): number | undefined {
  const [, amount = "", unit = ""] = /^([\d.]+)\s*([KMGT]?B)$/i.exec(text.trim()) ?? [];
  const size = (decimalIn(amount) ?? Number.NaN) * (UNITS[unit.toUpperCase()] ?? Number.NaN);
  return size <= Number.MAX_SAFE_INTEGER ? Math.round(size) : undefined;
}

/** A size for people, in the largest unit that fits: `1.2 GB`. */
export function formatSize(bytes: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, each]) => bytes >= each) ?? ["B", 1];
  return unit === "B" ? `${bytes} B` : `${(bytes / size).toFixed(1)} ${unit}`;
}
