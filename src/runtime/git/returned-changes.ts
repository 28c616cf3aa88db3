import { isRecord, parseJson } from "../../core/text/json.ts";
import { unpacked } from "./shared-workspace.ts";

/** The patch in the stored progress of a task that works in a copy of the workspace; `undefined`: there is none. */
export function patchOfProgress(text: string | undefined): Buffer | undefined {
  const kept: unknown = text === undefined ? undefined : parseJson(text);
  if (!isRecord(kept) || typeof kept["patch"] !== "string" || kept["patch"] === "") return undefined;
  return unpacked(kept["patch"]);
}
