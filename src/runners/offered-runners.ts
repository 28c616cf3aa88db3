import { namedRunners } from "../core/vocabulary/runner-name.ts";
import { findProgram } from "./foreign/find-program.ts";
import { runners } from "./table.ts";

/**
 * The runners that a worker on this machine offers: all but programs that are not in PATH. A command line, such as that
 * of an ACP agent, is never offered.
 */
export function offeredRunners(path: string | undefined): readonly string[] {
  return namedRunners.filter((name) => {
    const { program } = runners[name];
    return program === undefined || findProgram(program, path, []) !== undefined;
  });
}
