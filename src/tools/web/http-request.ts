import { z } from "zod";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import { createGuardedFetch } from "../../runtime/network/guarded-fetch.ts";
import type { ToolParts } from "../parts/tool-parts.ts";
import { bodySchema, contentFor } from "./http-body.ts";
import { pageText } from "./page-text.ts";
import { ruled, webSubjects } from "./web-access.ts";

const input = z.strictObject({
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
  url: z.string().min(1),
  headers: z.record(z.string(), z.string()).optional(),
  ...bodySchema,
});

/**
 * Sends any request to a server on the public internet. It is treated as a write for every method, because it can
 * change things on the server.
 */
export const httpRequest = ({ fetch = createGuardedFetch() }: ToolParts = {}): Tool =>
  defineTool({
    name: "http_request",
    description:
      "Makes a request with any method to an http(s) URL of the public internet, and returns the status and the answer as text.",
    input,
    effect: "write",
    does: "net",
    subjects: webSubjects,
    timeoutMs: 45_000,
    async run({ method, url, headers = {}, body, json }, context) {
      if ((method === "GET" || method === "HEAD") && (body !== undefined || json !== undefined))
        throw new Error(`a ${method} request has no body`);
      return pageText(
        await fetch({ url, method, ...ruled(context), ...contentFor({ headers, body, json }) }, context.signal),
        {},
        context.signal,
      );
    },
  });
