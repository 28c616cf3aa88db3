import { byMode } from "../../core/policy/judge-call.ts";
import { permit, type Rights } from "../../core/policy/permit.ts";
import { mayUseNetwork, type Policy, rulesFor } from "../../core/policy/policy.ts";
import { type Rule, ruleText } from "../../core/rules/rule.ts";
import type { ToolClass } from "../../core/vocabulary/tool-class.ts";

/** The abilities of other agent programs, each with the tool of subcrew that does the same. */
export const abilities = {
  read_file: { does: "read", effect: "read" },
  list_files: { does: "read", effect: "read" },
  glob: { does: "read", effect: "read" },
  grep_files: { does: "read", effect: "read" },
  write_file: { does: "write", effect: "write" },
  edit_file: { does: "write", effect: "write" },
  bash: { does: "exec", effect: "write" },
  http_get: { does: "net", effect: "read" },
  web_search: { does: "net", effect: "read" },
} as const satisfies Record<string, { does: ToolClass; effect: "read" | "write" }>;
export type Ability = keyof typeof abilities;
export const abilityNames = Object.keys(abilities) as Ability[];

/** The restrictions of a task, in a form that other agent programs understand. */
export type Bounds = Readonly<{
  /** For each ability: allowed, partly allowed by rules, only after asking, or never. */
  may: Readonly<Record<Ability, "yes" | "some" | "ask" | "no">>;
  /** Permission rules with patterns that allow a part of an ability, and rules that forbid a part. */
  allow: readonly Rule[];
  deny: readonly Rule[];
  /** Rules that deny access to secrets and to subcrew's state folder. */
  closed: readonly Rule[];
  /**
   * Restrictions that cannot be passed on to another agent program: patterns in an agent's file, and the files that a
   * task declared to write.
   */
  own: readonly string[];
  /** True when commands must run in a sandbox. */
  sandbox: boolean;
  network: boolean;
}>;

export type ForeignBound = Readonly<{
  rights: Rights;
  policy: Policy;
  sandbox: "required" | "auto" | "off";
  /** True when written files are checked before they take effect. */
  checkedLater: boolean;
  /** The absolute paths of secrets and of subcrew's state. */
  closed: readonly string[];
}>;

/** Converts the tool rights and the policy of a task to bounds. */
export function boundsOf({ rights, policy, sandbox, checkedLater, closed }: ForeignBound): Bounds {
  const patterned = (rules: readonly Rule[]): Rule[] => rules.filter(({ pattern }) => pattern !== undefined);
  const may = Object.fromEntries(abilityNames.map((name) => [name, mayDo(name, rights, policy)])) as Bounds["may"];
  const about = (rules: readonly Rule[]): Rule[] =>
    abilityNames.flatMap((name) =>
      may[name] === "no" ? [] : patterned(rulesFor(rules, name)).map((rule) => ({ ...rule, tool: name })),
    );
  const lists = policy.bounds.flatMap(({ of, key, rules }) =>
    rules.some(({ tool }) => abilityNames.some((name) => may[name] !== "no" && rulesFor([{ tool }], name).length > 0))
      ? [`the ${key} of ${of}`]
      : [],
  );
  const leases =
    checkedLater || may.write_file === "no"
      ? []
      : (policy.leases ?? []).map(({ of }) => `the list of files that ${of} may write`);
  return {
    may,
    allow: about(policy.allow),
    deny: about([...policy.deny, ...policy.ask]),
    closed: about(closed.flatMap(closing)),
    own: [...new Set([...lists, ...leases])],
    sandbox: sandbox !== "off",
    network: mayUseNetwork(policy),
  };
}

/** Rules that deny reading and changing a forbidden path. */
const closing = (path: string): Rule[] =>
  [path, `${path}/**`].flatMap((pattern) => ["read_file", "write_file"].map((tool) => ({ tool, pattern })));

function mayDo(name: Ability, rights: Rights, policy: Policy): "yes" | "some" | "ask" | "no" {
  const bare = (rules: readonly Rule[]): boolean => rulesFor(rules, name).some(({ pattern }) => pattern === undefined);
  if (!permit(rights, name).allowed || bare(policy.deny)) return "no";
  const { decision } = byMode(policy.level, { tool: name, ...abilities[name] }, undefined);
  if (decision === "deny") return "no";
  if (bare(policy.ask)) return policy.asks ? "ask" : "no";
  if (decision === "allow" || bare(policy.allow)) return "yes";
  if (rulesFor(policy.allow, name).length > 0) return "some";
  return policy.asks ? "ask" : "no";
}

/** The restrictions that a program can enforce. */
export type ToolRestrictions = Readonly<{
  /**
   * `each`: every ability can be removed. `asks`: the program itself decides when to ask. Otherwise the abilities that
   * cannot be removed, with the reason.
   */
  without: "each" | "asks" | Readonly<Partial<Record<Ability, string>>>;
  /**
   * The abilities for which the program enforces rules about arguments, in whatever way a call spells the arguments.
   */
  patterns: readonly Ability[];
  /** True when the program writes only in the folders that it is given. */
  places: boolean;
  /** True when the program runs commands in a sandbox. */
  sandbox: boolean;
}>;

/** The restrictions of a task that a program cannot enforce, one clause each. */
export function lacking(bounds: Bounds, keeps: ToolRestrictions): string[] {
  const { may, deny, closed, own, sandbox } = bounds;
  const kept = ({ tool }: Rule): boolean => keeps.patterns.includes(tool as Ability);
  /**
   * Rules about files. Even if the program's file tools enforce them, its shell commands can still access such a file.
   */
  const aboutFiles = deny.filter((rule) => kept(rule) && FILES.has(abilities[rule.tool as Ability].does));
  const stuck = { each: () => [], asks: () => unasked(may) };
  const missing =
    typeof keeps.without === "string"
      ? stuck[keeps.without]()
      : Object.entries(keeps.without).flatMap(([name, why]) => (may[name as Ability] === "no" ? [why] : []));
  return [
    ...new Set(missing),
    ...[...deny, ...closed]
      .filter((rule) => !kept(rule))
      .map((rule) => `the program cannot enforce the rule against ${ruleText(rule)}`),
    ...(!keeps.sandbox && does(may.bash) ? aboutFiles : []).map(
      (rule) => `its shell commands do not follow the rule against ${ruleText(rule)}`,
    ),
    ...own.map((what) => `the program cannot enforce ${what}`),
    ...(!keeps.places && does(may.write_file) ? ["the program can write files anywhere"] : []),
    ...(!keeps.sandbox && sandbox && does(may.bash) ? ["its shell commands run outside of the sandbox"] : []),
  ];
}

const FILES: ReadonlySet<ToolClass> = new Set(["read", "write"]);

/** The abilities that a program may use unrestricted because it decides itself when to ask. */
function unasked(may: Bounds["may"]): string[] {
  const bound = abilityNames.filter((name) => may[name] !== "yes");
  return bound.length === 0 ? [] : [`the program itself decides when to ask, so nothing prevents ${bound.join(", ")}`];
}

const does = (may: "yes" | "some" | "ask" | "no"): boolean => may === "yes" || may === "some";
