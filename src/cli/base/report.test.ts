import { expect, test, vi } from "vitest";
import { CrewError } from "../../core/schema/error.ts";
import { CrashError } from "../../core/task/crash.ts";
import { report } from "./report.ts";

const open = Object.assign(new Error("EMFILE: too many open files, open '/a'"), { code: "EMFILE" });

test.each([
  ["itself", open],
  ["the cause of a crash", new CrashError(open, { run: "run_1", path: "" })],
  ["the cause of another error", new CrewError("BAD_FILE", "The file cannot be read.", "", { cause: open })],
  ["the text of another error", new Error("Cannot load: EMFILE: too many open files")],
])("too many open files have their own code and a hint: %s", (_, thrown) => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const look = {} as Parameters<typeof report>[1]["look"];
  const code = report(thrown, { json: true, look });
  const said = JSON.parse(String(written.mock.calls[0]?.[0]));
  written.mockRestore();
  expect(code).toBe(1);
  expect(said).toMatchObject({ code: "TOO_MANY_FILES", hint: expect.stringContaining("ulimit -n") });
});
