import type { Dialect } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";
import { defineFields, type KeyReader } from "../fields/draft.ts";
import { listOf } from "../fields/lists.ts";
import { isMarkdown, markdown } from "../fields/markdown.ts";
import {
  aliases,
  bad,
  choice,
  flag,
  kept,
  limit,
  model,
  output,
  projectInstructions,
  readSkills,
  readThinking,
  switchedOff,
  text,
} from "../fields/rules.ts";
import { disallowedTools } from "../fields/denied-tools.ts";
import { spawns } from "../fields/spawns.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

const GROUPS = { all: ["*"], none: [] };

/** Reads the models to try when the first is not available. */
const fallbackModels: KeyReader = (draft, value, key) => {
  const more = listOf(value);
  if (more === undefined) return bad(draft, key, "a list of models");
  const first = draft.agent.model ?? [];
  draft.agent.model = [...(typeof first === "string" ? [first] : first), ...more];
  draft.from["model"] ??= key;
};

/** Reads the limits of turns, `{ maxTurns, graceTurns }`. */
const turnBudget: KeyReader = (draft, value, key) => {
  if (isRecord(value) && value["maxTurns"] !== undefined) limit("maxTurns")(draft, value["maxTurns"], key);
  else bad(draft, key, "{ maxTurns, graceTurns }");
};

/** Reads `output`: a schema, or (in one of the pi extensions) the name of a file to write. */
const outputOrFile: KeyReader = (draft, value, key) =>
  isRecord(value) ? output(draft, value, key) : kept()(draft, value, key);

const memory: KeyReader = (draft, value, key) =>
  choice("memory", { user: "user", project: "project", local: "local" })(
    draft,
    isRecord(value) ? value["scope"] : value,
    key,
  );

const toolsOrNone: KeyReader = (draft, value, key) => tools(GROUPS)(draft, value === "none" ? [] : value, key);

/**
 * The agent files of the pi family: its example and its parallel extension, and the two extensions called pi-subagents.
 */
export const piDialect: Dialect = markdown({
  id: "pi",
  accepts: (name) => isMarkdown(name) && !name.endsWith(".chain.md"),
  freeName: true,
  nameFromFile: true,
  settle: (draft, data) => {
    const prefix = data["package"];
    if (typeof prefix === "string" && draft.agent.name !== undefined)
      draft.agent.name = `${prefix}.${draft.agent.name}`;
  },
  fields: defineFields({
    ...narrowing(GROUPS),
    name: text("name"),
    description: text("description"),
    displayName: text("displayName"),
    extends: text("extends"),
    tools: toolsOrNone,
    disallowedTools: disallowedTools(),
    allowedSubagents: spawns,
    model,
    fallbackModels,
    thinking: readThinking,
    skills: readSkills,
    output: outputOrFile,
    async: flag("background"),
    runInBackground: flag("background"),
    isolation: choice("isolation", { worktree: "worktree", off: undefined }),
    timeoutMs: limit("maxDurationMs"),
    maxTurns: limit("maxTurns"),
    turnBudget,
    memory,
    aliases,
    enabled: switchedOff(false),
    package: kept("is part of the name"),
    runner: kept("has no effect: agent files start no programs"),
    extensions: kept("has no effect: agent files load no code"),
    subagentOnlyExtensions: kept("has no effect: agent files load no code"),
    excludeExtensions: kept(),
    systemPromptMode: kept(),
    promptMode: kept(),
    inheritProjectContext: projectInstructions(),
    inheritContext: kept(),
    inheritSkills: kept(),
    defaultContext: kept(),
    skillPath: kept(),
    outputMode: kept(),
    outputTranscript: kept(),
    defaultReads: kept(),
    defaultProgress: kept(),
    toolTimeoutMs: kept(),
    acceptance: kept(),
    acceptanceRole: kept(),
    completionGuard: kept(),
    interactive: kept(),
    maxSubagentDepth: kept(),
    persistSession: kept(),
    sessionDir: kept(),
    isolated: kept(),
    color: kept(),
  }),
});
