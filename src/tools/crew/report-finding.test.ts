import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { emptyScratchpad } from "../../core/task/scratchpad.ts";
import { reportFinding } from "./report-finding.ts";

test("report_finding records the problem, its place and its severity", async () => {
  const [desk, told] = [emptyScratchpad(), [] as string[]];
  const finding = {
    title: "Off by one",
    body: "The last line is lost.",
    priority: "P1",
    confidence: 0.8,
    path: "src/a.ts",
    line: 10,
    endLine: 12,
  };
  expect(await callTool(reportFinding, "/", finding, { desk, notify: (text) => void told.push(text) })).toEqual(
    "Finding 1 is reported: [P1, confidence 0.8] Off by one (src/a.ts:10-12)",
  );
  expect(await callTool(reportFinding, "/", { title: "Name", body: "x", priority: "P3" }, { desk })).toEqual(
    "Finding 2 is reported: [P3] Name",
  );
  expect(told).toEqual(["[P1, confidence 0.8] Off by one (src/a.ts:10-12)\nThe last line is lost."]);
});
