import type { Receipt } from "../../core/run/run-command.ts";
import { jsonText } from "../../core/text/json-text.ts";

/** Prints the reply to an action on a run and what to do next; returns the exit code. */
export function printReceipt(
  id: string,
  receipt: Receipt,
  { json }: Readonly<{ json?: boolean }>,
  next?: string,
): number {
  const isDone = receipt.code === "DONE" || receipt.code === "QUEUED";
  if (json) process.stdout.write(`${jsonText({ id, ...receipt })}\n`);
  else {
    const text = next === undefined ? receipt.text : `${receipt.text}\nnext: ${next}`;
    process[isDone ? "stdout" : "stderr"].write(`${text}\n`);
  }
  return isDone ? 0 : 1;
}
