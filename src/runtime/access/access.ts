import { basename, dirname, relative, sep } from "node:path";
import type { Agent } from "../../core/agent/agent.ts";
import type { Worktree } from "../../core/plan/isolation.ts";
import type { Task } from "../../core/plan/task.ts";
import { mayUseNetwork, narrow, type Policy, withLease } from "../../core/policy/policy.ts";
import { protectedPart } from "../../core/policy/protected-paths.ts";
import type { Rule } from "../../core/rules/rule.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import type { ShellCommands } from "../../core/task/shell-commands.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import { defined } from "../../core/text/defined.ts";
import type { ShellHost } from "../commands/commands.ts";
import type { SandboxLevel } from "../commands/probe-sandbox.ts";
import { folderContains } from "../files/folder-contains.ts";
import { resolveSubject } from "../files/resolve-subject.ts";
import { bannedLinks, closedIn } from "./closed-in-folder.ts";
import { type AccessParts, levelFor } from "./crew-access.ts";
import { commandsFor } from "./task-commands.ts";
import { createRoots, leasedFolders, placesFor } from "./task-places.ts";

/** The task for which access is opened. */
export type AccessRequest = Readonly<{
  run: string;
  path: string;
  depth: number;
  agent: Pick<Agent, "name" | "permission" | "tools" | "disallowedTools" | "rules" | "sandbox">;
  /** The policy of the parent task. */
  policy?: Policy;
  /** The worktree that the task works in. */
  worktree?: Worktree;
  /** The options of the task, such as the files that it may write. */
  task?: Pick<Task, "writes">;
  cwd: string;
  env(): Readonly<Record<string, string>>;
  /** True: the task may run commands. */
  commands: boolean;
  /** Called once per run, at the first command, to report the sandbox. */
  note(level: SandboxLevel): void;
}>;

/** The access of the tasks of one run: an approval applies to all of them until the run ends. */
export type RunAccess = Readonly<{
  policyFor(agent: AccessRequest["agent"], parent?: Policy): Policy;
  /** Opens the access of a task. `undefined`: its working folder is outside of the run's folders. */
  accessFor(task: AccessRequest): Promise<TaskAccess | undefined>;
}>;

export function createRunAccess(parts: AccessParts): RunAccess {
  const agreed: Rule[] = [];
  const session = parts.session ?? [];
  let told = false;
  const recorders = new Map<string, ChangeRecorder | undefined>();
  const isClosed = (real: string): boolean => parts.closed.at(real) !== undefined;
  const recorder = (run: string): ChangeRecorder | undefined => {
    if (!recorders.has(run)) recorders.set(run, parts.changes?.(run, isClosed));
    return recorders.get(run);
  };
  const folders = new Map<string, string | undefined>();
  const outputsOf = (run: string): string | undefined => {
    if (!folders.has(run)) folders.set(run, parts.outputs?.(run));
    return folders.get(run);
  };
  const rootsOfRun = createRoots();
  const policyFor: RunAccess["policyFor"] = (agent, parent) => {
    const around = parent ?? parts.policy;
    const known = narrowed.get(around) ?? new WeakMap<AccessRequest["agent"], Policy>();
    const policy = known.get(agent) ?? narrow(around, agent);
    narrowed.set(around, known.set(agent, policy));
    return policy;
  };
  return {
    policyFor,
    accessFor: async (task) => {
      const place = await placesFor(parts, task, rootsOfRun);
      if (!place) return undefined;
      const writes = task.task?.writes;
      const own = withLease(policyFor(task.agent, task.policy), writes && { of: task.path, globs: writes });
      let configured: readonly string[] = [];
      const policy = (): Policy => {
        const granted =
          agreed.length + session.length === 0 ? own : { ...own, allow: [...own.allow, ...session, ...agreed] };
        return configured.length === 0 ? granted : { ...granted, configured };
      };
      const { roots, placeOf } = place;
      const isBannedLink = bannedLinks(own, place.tops, placeOf);
      const shut = task.worktree ? parts.closed.inWorktree(task.worktree) : parts.closed;
      const note = (level: SandboxLevel): void => {
        if (!told) task.note(level);
        told = true;
      };
      const folder = outputsOf(task.run);
      const files = new Set<string>();
      const handed = folder === undefined ? {} : { handed: { files } };
      let host: Promise<ShellHost> | undefined;
      const commands = async (): Promise<ShellCommands> => {
        host ??= commandsFor(parts, task, { ...place, policy, note, shut, handed: () => [...files] });
        return (await host).commands;
      };
      return {
        policy,
        agree: async (rules, scope = "run") => {
          (scope === "session" ? session : agreed).push(...rules);
          if (scope === "project" || scope === "user") await parts.keep?.(rules, scope);
        },
        locate: async (subject) => {
          const found = await resolveSubject(subject, { roots, placeOf, closed: shut, ...handed });
          if (found.kind === "command" || (found.kind === "path" && found.change))
            configured = place.configured(found.kind === "path" ? found.places : []);
          return found;
        },
        placeOf,
        closedIn: (tool, folder, judged) =>
          closedIn(folder, { tool, judged, policy: policy(), placeOf, shut, isBannedLink }),
        closedBelow: (folders) => {
          const { folders: whole, files: single } = shut.existing();
          return [...whole, ...single].filter((path) => folders.some((folder) => folderContains(folder, path)));
        },
        roots: roots.slice(1).map(({ real }) => real),
        ...handed,
        allowReading: (told) => {
          for (const file of told) if (folder !== undefined && isOutput(folder, file)) files.add(file);
        },
        demands: { sandbox: parts.settings.sandbox ?? "auto", weaker: parts.settings.allowWeaker ?? false },
        exclusively: (places, work, signal) => parts.locks(places.map(place.realOf), work, signal),
        seen: new Map(),
        noteWrite: async (real) => {
          if (protectedPart(placeOf(real), policy()) !== undefined) await parts.inFlight.permit(real);
        },
        ...(!task.worktree && defined({ changes: recorder(task.run) })),
        ...(task.commands && {
          commands,
          sandbox: async () => ({
            ...(await levelFor(parts)),
            waived: parts.settings.sandbox === "off",
            network: mayUseNetwork(own),
            roots: roots.slice(1).map(({ real }) => real),
            ...(own.leases && { leased: leasedFolders(own, roots, placeOf) }),
          }),
        }),
        end: async () => (await host)?.end(),
      };
    },
  };
}

/** True for a file in the output folder of a run; `folder` is the output folder of one of the runs. */
function isOutput(folder: string, file: string): boolean {
  const [run, name, ...rest] = relative(dirname(dirname(folder)), file).split(sep);
  return run !== ".." && name === basename(folder) && rest.length > 0;
}

/**
 * Cache of the policies of agents, by the policy of the caller. Neither policy ever changes, and all tasks of one agent
 * have the same object.
 */
const narrowed = new WeakMap<Policy, WeakMap<AccessRequest["agent"], Policy>>();
