import { boundData, boundOutput, boundText, MAX_CHARS, type OutputFile } from "./result/bound.ts";
import { runUri } from "./result/resource-uri.ts";
import type { CallResult } from "./sdk.ts";
import { type RunView, runText } from "./result/view.ts";

/**
 * The view as a tool result, both within bounds: the output as text for the model, everything as structured data.
 * `told`: other text for the model.
 */
export async function callResultOf(
  view: RunView,
  fileOf: OutputFile,
  told: (view: RunView) => string = runText,
): Promise<CallResult> {
  const text = told(await boundOutput(view, fileOf));
  const max = Math.max(MAX_CHARS, view.summaryChars === undefined ? 0 : text.length);
  return {
    content: [{ type: "text", text: boundText(text, [runUri(view.run)], max) }],
    structuredContent: await boundData(view, fileOf),
    ...((view.status === "failed" || view.status === "cancelled") && { isError: true }),
  };
}
