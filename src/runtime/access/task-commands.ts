import { dirname, join, relative, sep } from "node:path";
import type { Worktree } from "../../core/plan/isolation.ts";
import { mayUseNamespaces, mayUseNetwork, type Policy } from "../../core/policy/policy.ts";
import { defined } from "../../core/text/defined.ts";
import { createShellCommands, type ShellHost } from "../commands/commands.ts";
import type { SandboxLevel } from "../commands/probe-sandbox.ts";
import { closedByName, closedPaths } from "../files/closed-paths.ts";
import { folderContains } from "../files/folder-contains.ts";
import { rootOf } from "../files/open-contained.ts";
import { type ClosedPlaces, hardLinksTo } from "../files/secret-places.ts";
import { type AccessParts, levelFor } from "./crew-access.ts";
import { leasedFolders, type TaskPlaces } from "./task-places.ts";

type CommandTask = Readonly<{
  run: string;
  path: string;
  worktree?: Worktree;
  env(): Readonly<Record<string, string>>;
}>;

/** The shell commands of a task, isolated as far as the machine allows. */
export async function commandsFor(
  parts: AccessParts,
  task: CommandTask,
  {
    roots,
    placeOf,
    rootAt,
    policy,
    note,
    shut,
    handed,
  }: TaskPlaces & {
    policy: () => Policy;
    note: (level: SandboxLevel) => void;
    shut: ClosedPlaces;
    handed: () => readonly string[];
  },
): Promise<ShellHost> {
  const wish = parts.settings.sandbox ?? "auto";
  const level = await levelFor(parts);
  const cwd = roots[0]!.real;
  // Folders inside subcrew's state folder are never accessible to commands.
  const writable = roots.map(({ real }) => real).filter((real) => shut.at(real)?.kind !== "state");
  const place = placeOf(cwd);
  const outputs = parts.outputs?.(task.run);
  // A command that starts in a worktree or a subfolder also sees the workspace.
  const workspace = (await rootOf(parts.cwd)).real;
  const closed = (): string[] => [
    ...closedByName(policy()),
    ...closedPaths(policy(), workspace, (path) => relative(workspace, path).split(sep).join("/")),
    ...writable.flatMap((root) => (folderContains(workspace, root) ? [] : closedPaths(policy(), root, placeOf))),
  ];
  note(level);
  return createShellCommands({
    name: task.run,
    cwd,
    writable,
    ...(task.worktree && { seen: [dirname(dirname(task.worktree.gitDir))] }), // the repository's git folder is visible, too
    ...(policy().leases && { leased: leasedFolders(policy(), roots, placeOf) }),
    place,
    wish,
    sandbox: level,
    network: () => mayUseNetwork(policy()),
    namespaces: mayUseNamespaces(policy()),
    inFlight: parts.inFlight,
    rootAt,
    learn: parts.configured.learn,
    allow: () => policy().allow.filter(({ pattern }) => pattern !== undefined),
    ...defined({ finisher: parts.finisher }),
    homes: [],
    handed,
    hidden: async () => {
      const { folders, files } = shut.existing();
      const forbidden = closed();
      return [...folders, ...files, ...shut.linksIn(writable), ...forbidden, ...hardLinksTo(forbidden, writable)];
    },
    env: task.env,
    ...(outputs !== undefined && { outputs: join(outputs, `${task.path}.commands`) }),
    ...defined({ redact: parts.redact }),
  });
}
