import { z } from "zod";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import { createGuardedFetch } from "../../runtime/network/guarded-fetch.ts";
import type { ToolParts } from "../parts/tool-parts.ts";
import { bodySchema, contentFor } from "./http-body.ts";
import { pageText } from "./page-text.ts";
import { ruled, webSubjects } from "./web-access.ts";

const input = z.strictObject({
  url: z.string().min(1),
  headers: z.record(z.string(), z.string()).optional(),
  ...bodySchema,
});

/** Sends a POST request to a server on the public internet. */
export const httpPost = ({ fetch = createGuardedFetch() }: ToolParts = {}): Tool =>
  defineTool({
    name: "http_post",
    description:
      "Posts text or a JSON value to an http(s) URL of the public internet, and returns the status and the answer as text.",
    input,
    effect: "write",
    does: "net",
    subjects: webSubjects,
    timeoutMs: 45_000,
    async run({ url, headers = {}, body, json }, context) {
      return pageText(
        await fetch(
          { url, method: "POST", ...ruled(context), ...contentFor({ headers, body: body ?? "", json }) },
          context.signal,
        ),
        {},
        context.signal,
      );
    },
  });
