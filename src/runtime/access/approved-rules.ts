import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readRegularText } from "../disk/regular-file.ts";
import { parseRules, type Rule, ruleText } from "../../core/rules/rule.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

/** The scope of a stored rule. */
export type RuleScope = "project" | "user";

/** Permanent approvals, stored in the user's state folder, which no project can write. */
export type KeptRules = Readonly<{
  /** The rules for a project. Unreadable rules are ignored. */
  read(project: string): Promise<readonly string[]>;
  /** Stores rules with a pattern; a rule for a whole tool is never stored. */
  keep(rules: readonly Rule[], scope: RuleScope, project: string): Promise<void>;
  /** Removes a rule of the project or of the user. False: there is no such rule. */
  remove(rule: string, project: string): Promise<boolean>;
}>;

type ApprovedRules = Readonly<{ user: readonly string[]; projects: Readonly<Record<string, readonly string[]>> }>;

/** The permanent approvals stored in subcrew's home folder. */
export function openKeptRules(home: string): KeptRules {
  const file = join(home, "rules.json");
  const all = async (): Promise<ApprovedRules> => {
    const data = parsed(existsSync(file) ? await readRegularText(file).catch(() => "") : "");
    const projects = isRecord(data["projects"]) ? Object.entries(data["projects"]) : [];
    return {
      user: textsIn(data["user"]),
      projects: Object.fromEntries(projects.map(([project, rules]) => [project, textsIn(rules)])),
    };
  };
  const write = async (kept: ApprovedRules): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeAtomic(file, `${JSON.stringify({ version: 1, ...kept }, null, 2)}\n`);
  };
  return {
    read: async (project) => {
      const { user, projects } = await all();
      return [...user, ...(Object.hasOwn(projects, project) ? projects[project]! : [])].filter(isReadable);
    },
    keep: async (rules, scope, project) => {
      const texts = rules.filter(({ pattern }) => pattern !== undefined).map(ruleText);
      if (texts.length === 0) return;
      const { user, projects } = await all();
      const added = (before: readonly string[] = []): string[] => [...new Set([...before, ...texts])];
      const kept: ApprovedRules =
        scope === "user"
          ? { user: added(user), projects }
          : { user, projects: { ...projects, [project]: added(projects[project]) } };
      await write(kept);
    },
    remove: async (rule, project) => {
      const { user, projects } = await all();
      const own = Object.hasOwn(projects, project) ? projects[project]! : [];
      if (!user.includes(rule) && !own.includes(rule)) return false;
      const without = (rules: readonly string[]): string[] => rules.filter((each) => each !== rule);
      await write({ user: without(user), projects: { ...projects, [project]: without(own) } });
      return true;
    },
  };
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

function isReadable(text: string): boolean {
  try {
    return parseRules([text]).every(({ pattern }) => pattern !== undefined);
  } catch {
    return false;
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
