import { Option } from "commander";
import type { Permissions } from "../../core/policy/permissions.ts";
import { type PolicyMode, policyModes } from "../../core/policy/policy.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";

/** The flags about permissions. */
export type PermissionFlags = Readonly<{
  permissionMode?: PolicyMode;
  allow?: readonly string[];
  ask?: readonly string[];
  deny?: readonly string[];
  sandbox?: "required" | "auto" | "off";
  allowWeaker?: boolean;
  delegation?: "own" | "ceiling";
  acceptCmd?: string;
}>;

/** The flags of every command that runs something. */
export function permissionOptions(): Option[] {
  return [
    new Option("--permission-mode <mode>", `how often the user is asked: ${policyModes.join(", ")}`).argParser(mode),
    new Option(
      "--allow <rule>",
      "do not ask about these calls, as in 'bash(git log *)' or 'write_file(src/**)'",
    ).argParser(collect),
    new Option("--ask <rule>", "always ask about these calls").argParser(collect),
    new Option("--deny <rule>", "refuse these calls").argParser(collect),
    new Option("--sandbox <level>", "isolate commands: required, auto (default) or off").choices([
      "required",
      "auto",
      "off",
    ]),
    new Option(
      "--delegation <rule>",
      "tools of agents that agents start: those of their own file (own, default) or no more than their parent's (ceiling)",
    ).choices(["own", "ceiling"]),
    new Option(
      "--allow-weaker",
      "with --runner: run even if the program cannot enforce all of the agent's restrictions",
    ),
  ].map((option) => option.helpGroup("What agents may do:"));
}

export const acceptCommandOption = (): Option =>
  new Option(
    "--accept-cmd <command>",
    "only an answer that this command accepts can win: it reads the answer on standard input and exits with 0",
  ).helpGroup("Work:");

/**
 * Converts the flags to crew options. The person typed the acceptance command, so exactly that command is allowed
 * without a question.
 */
export function permissionsIn({
  permissionMode,
  allow = [],
  ask,
  deny,
  sandbox,
  allowWeaker,
  delegation,
  acceptCmd,
}: PermissionFlags): Permissions {
  const allowed = [...allow, ...(acceptCmd === undefined ? [] : [`bash(=${acceptCmd})`])];
  return {
    ...(permissionMode && { mode: permissionMode }),
    ...(allowed.length > 0 && { allow: allowed }),
    ...(ask && { ask: [...ask] }),
    ...(deny && { deny: [...deny] }),
    ...(sandbox && { sandbox }),
    ...(allowWeaker && { allowWeaker }),
    ...(delegation && { delegation }),
  };
}

/**
 * Converts the permissions of a run back to the flags that grant them, without those that came from the settings: such a
 * permission is given again only if the settings still give it.
 */
export function permissionFlagsOf(given: Permissions = {}, settings: Permissions = {}): PermissionFlags {
  const { mode, sandbox, allowWeaker, delegation } = given;
  const allow = given.allow?.filter((rule) => !settings.allow?.includes(rule));
  return {
    ...(mode && mode !== settings.mode && { permissionMode: mode }),
    ...defined({ allow, ask: given.ask, deny: given.deny }),
    ...(sandbox && sandbox !== settings.sandbox && { sandbox }),
    ...(allowWeaker && !settings.allowWeaker && { allowWeaker }),
    ...(delegation && delegation !== settings.delegation && { delegation }),
  };
}

function mode(text: string): PolicyMode {
  const known = policyModes.find((each) => each.toLowerCase() === text.replace(/-/g, "").toLowerCase());
  if (known) return known;
  throw new CrewError("BAD_INPUT", `--permission-mode cannot be "${text}".`, `Give one of ${policyModes.join(", ")}.`);
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
