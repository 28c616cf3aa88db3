/**
 * The number that a person wrote: digits, and perhaps a fraction, as in `4`, `0.5` and `.5`. `undefined` for a number
 * that is too large, and for other notations that programs know (`0x10`, `1e3`, `1_000`, `+1`, `Infinity`), because
 * they are usually mistakes.
 */
export function decimalIn(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(trimmed)) return undefined;
  const number = Number(trimmed);
  return number <= Number.MAX_SAFE_INTEGER ? number : undefined;
}
