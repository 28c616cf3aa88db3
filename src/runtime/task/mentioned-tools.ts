import type { Agent } from "../../core/agent/agent.ts";
import { allowedTools, type Rights } from "../../core/policy/permit.ts";
import { styledToolNames, type ToolNameStyle } from "../../core/vocabulary/tool-name-styles.ts";
import { DELEGATION_TOOL, toolSpellings } from "../../core/vocabulary/tool-names.ts";
import type { Tool } from "../../core/task/tool.ts";
import { shownName } from "../../core/task/tool-specs.ts";

type Given = Readonly<{ tools: ReadonlyMap<string, Tool>; rights: Rights; style?: ToolNameStyle | undefined }>;

/**
 * One line that connects the tool names of another program in an agent's instructions with the names that the model is
 * shown; empty if there are none.
 */
export function toolNamesText(agent: Agent, { tools, rights, style }: Given): string {
  const mentioned = mentionedIn(agent);
  if (mentioned.length === 0) return "";
  const { tools: allowed } = allowedTools(rights, tools);
  const shown = new Set(allowed.map((name) => shownName(name, tools, style)));
  const pairs = mentioned.flatMap(([written, canonical]) => {
    const own = canonical === DELEGATION_TOOL ? (rights.delegation?.[0] ?? canonical) : canonical;
    if (!allowed.includes(own) || shown.has(written)) return [];
    return [`\`${written}\` is the tool \`${shownName(own, tools, style)}\``];
  });
  return pairs.length === 0 ? "" : `In the instructions above, ${pairs.join(", ")}.`;
}

/** Tool names of other programs, each with the canonical name, in the instructions of an agent's file. */
function mentionedIn(agent: Agent): readonly (readonly [string, string])[] {
  const { source } = agent;
  if (source === undefined || source.kind === "bundled") return NONE;
  const known = mentions.get(agent);
  if (known) return known;
  const { instructions } = agent;
  const found = SPELLINGS.filter(([written]) => patternOf(written).test(instructions));
  mentions.set(agent, found);
  return found;
}

const NONE: readonly (readonly [string, string])[] = [];
const mentions = new WeakMap<Agent, readonly (readonly [string, string])[]>();

const SPELLINGS = Object.entries(toolSpellings).flatMap(([canonical, others]) =>
  [canonical, ...others].map((written) => [written, canonical] as const),
);

const CLAUDE: ReadonlySet<string> = new Set(Object.values(styledToolNames.claude));

/** The names of Claude Code count as words, all others only as code or before the word "tool": `find` is a verb, too. */
function patternOf(written: string): RegExp {
  return new RegExp(
    CLAUDE.has(written) ? `(?<![\\w-])${written}(?![\\w-])` : `\`${written}\`|(?<![\\w-])${written} tools?\\b`,
  );
}
