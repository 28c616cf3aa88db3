import { z } from "zod";
import type { WebRequest } from "../../runtime/network/guarded-fetch.ts";

/** The two ways to give the body of a request. */
export const bodySchema = {
  body: z.string().max(1_000_000).optional().describe("the text to send"),
  json: z.unknown().optional().describe("a value to send as JSON, instead of `body`"),
} as const;

export type RequestBody = Readonly<{
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  json: unknown;
}>;

/** Headers and body of a request; sets the content type unless the caller does. */
export function contentFor({ headers, body, json }: RequestBody): Pick<WebRequest, "headers" | "body"> {
  const text = json === undefined ? body : JSON.stringify(json);
  if (text === undefined) return { headers };
  const named = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const type = json === undefined ? "text/plain; charset=utf-8" : "application/json";
  return { headers: named ? headers : { ...headers, "content-type": type }, body: text };
}
