import { faultCodes } from "../../src/core/outcome/fault-codes.ts";
import { exitCodeOf, failed } from "../../src/core/outcome/outcome.ts";
import { exitCodeOfError, isCode } from "../../src/core/schema/error.ts";
import { errorGuide } from "../../src/cli/base/error-guide.ts";

/** docs/errors.md: every code with its cause and its fix. */
export function errorsPage(): string {
  return [
    "# Error codes",
    "",
    "<!-- Made by `npm run docs` from src/cli/base/error-guide.ts and the lists of codes in src/core. -->",
    "",
    "A message of subcrew says what is wrong and what to do. Each also has a stable code: in `--json` output as `code`, in the",
    "library as `error.code` (a mistake of the caller, thrown as `CrewError`) or `result.fault.code` (a failure of a task).",
    "`subcrew help CODE` prints what stands here. [Troubleshooting](troubleshooting.md) begins with what you see instead.",
    "",
    "## Mistakes",
    "",
    "Nothing has run. The command ends with the exit code given here.",
    "",
    ...Object.keys(errorGuide)
      .filter(isCode)
      .flatMap((code) => entry(code, exitCodeOfError(code))),
    "## Failures of tasks",
    "",
    "A task ended without success. The run keeps what it has; the exit code is the one of a run that fails with it.",
    "",
    ...faultCodes.flatMap((code) => entry(code, exitCodeOf(failed(code, "")))),
  ].join("\n");
}

function entry(code: keyof typeof errorGuide, exit: number): string[] {
  const [cause, fix] = errorGuide[code];
  return [`### ${code}`, "", `Exit code ${exit}. **Cause:** ${cause}`, "", `**Fix:** ${fix}`, ""];
}
