import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";

const input = z.strictObject({
  title: z.string().trim().min(1).max(200).describe("what is wrong, in one line"),
  body: z.string().trim().min(1).max(4_000).describe("why it matters and what to do about it"),
  priority: z
    .enum(["P0", "P1", "P2", "P3"])
    .describe("P0 blocks everything, P1 has to be fixed now, P2 soon, P3 is a suggestion"),
  confidence: z.number().min(0).max(1).optional().describe("how sure you are, from 0 to 1"),
  path: z.string().min(1).max(500).optional().describe("the file"),
  line: z.int().min(1).optional().describe("the first line"),
  endLine: z.int().min(1).optional().describe("the last line"),
});

/** Records one finding of a review, so that it is visible before the review is over. */
export const reportFinding = defineTool({
  name: "report_finding",
  description:
    "Reports one finding of a review: what is wrong, where, how severe, how certain. Call it once per finding; summarise them in your result.",
  input,
  effect: "read",
  does: "none",
  order: () => "write",
  timeoutMs: 1_000,
  run({ title, body, priority, confidence, path, line, endLine }, { desk, notify }) {
    const lines = line === undefined ? "" : `:${line}${endLine !== undefined && endLine > line ? `-${endLine}` : ""}`;
    const place = path === undefined ? "" : ` (${path}${lines})`;
    const sure = confidence === undefined ? "" : `, confidence ${confidence}`;
    const finding = `[${priority}${sure}] ${title.replace(/\s+/g, " ")}${place}`;
    desk.findings.push(finding);
    notify(`${finding}\n${body}`);
    return `Finding ${desk.findings.length} is reported: ${finding}`;
  },
});
