import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Skill, WorkflowCommand } from "../core/agent/skill.ts";
import { findCommands, findSkills, type WorkflowPlaces } from "../defaults.ts";

/**
 * Where to search for skills and commands. A program that names a directory is expected to trust it, unless `trust`
 * says otherwise.
 */
export type WorkflowOptions = Partial<Omit<WorkflowPlaces, "cwd">>;

/** Every skill available for `cwd`. Of several skills with one name the first wins, and bundled skills come last. */
export async function discoverSkills(cwd: string, where: string | WorkflowOptions = {}): Promise<readonly Skill[]> {
  return (await findSkills(placesOf(cwd, where))).all;
}

/**
 * Every workflow command available for `cwd`. Of several commands with one name the first wins, and bundled commands
 * come last.
 */
export async function discoverCommands(
  cwd: string,
  where: string | WorkflowOptions = {},
): Promise<readonly WorkflowCommand[]> {
  return (await findCommands(placesOf(cwd, where))).all;
}

/** The command with exactly this name. */
export const getCommand = <C extends { readonly name: string }>(commands: readonly C[], name: string): C | undefined =>
  commands.find((command) => command.name === name);

/** The skill with exactly this name. @alias */
export const getSkill = getCommand;

function placesOf(cwd: string, where: string | WorkflowOptions): WorkflowPlaces {
  const options = typeof where === "string" ? { home: where } : where;
  return { trust: { project: () => true }, home: homedir(), ...options, cwd: resolve(cwd) };
}
