import type { Dialect } from "../../core/agent/dialect.ts";
import { rules } from "../fields/agent-rules.ts";
import { defineFields, type Fields } from "../fields/draft.ts";
import { inputs } from "../fields/inputs.ts";
import { markdown } from "../fields/markdown.ts";
import { remote } from "../fields/remote.ts";
import {
  aliases,
  choice,
  flag,
  kept,
  limit,
  limits,
  model,
  note,
  number,
  output,
  readPermission,
  readSkills,
  readThinking,
  runner,
  span,
  switchedOff,
  text,
} from "../fields/rules.ts";
import { servers } from "../fields/servers.ts";
import { disallowedTools } from "../fields/denied-tools.ts";
import { spawns } from "../fields/spawns.ts";
import { readonlyFlag, tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

/** Every key of any file format, in any spelling. */
export const ownFields: Fields = defineFields({
  ...narrowing(),
  name: text("name"),
  description: text("description"),
  displayName: text("displayName"),
  whenToUse: text("whenToUse"),
  systemPrompt: text("instructions"),
  instructions: text("instructions"),
  prompt: text("instructions"),
  extends: text("extends"),
  tools: tools(),
  readonly: readonlyFlag,
  disallowedTools: disallowedTools(),
  rules,
  spawns,
  model,
  thinking: readThinking,
  thinkingLevel: readThinking,
  effort: readThinking,
  temperature: number("temperature"),
  topP: number("topP"),
  limits,
  maxTurns: limit("maxTurns"),
  maxDurationMs: limit("maxDurationMs"),
  timeoutMs: limit("maxDurationMs"),
  timeoutMins: limit("maxDurationMs", 60_000),
  output,
  outputSchema: output,
  outputName: text("outputName"),
  completion: choice("completion", { tool: "tool", "tool-or-text": "tool-or-text", text: "text" }),
  permissionMode: readPermission,
  sandbox: readPermission,
  skills: readSkills,
  background: flag("background"),
  isolation: choice("isolation", { worktree: "worktree", none: undefined, off: undefined }),
  conversation: choice("conversation", { fork: "fork", fresh: undefined, new: undefined }),
  runner,
  memory: choice("memory", { user: "user", project: "project", local: "local" }),
  cache: span("cacheMs"),
  hidden: flag("hidden"),
  inputs,
  remote,
  aliases,
  enabled: switchedOff(false),
  disabled: switchedOff(true),
  color: kept(),
  hooks: kept("is never run from an agent file"),
  mcpServers: servers,
  metadata: note,
  version: note,
  author: note,
  license: note,
  tags: note,
});

/** subcrew's own Markdown files, also read in `.agents/agents`. */
export const ownDialect: Dialect = markdown({
  id: "own",
  fields: ownFields,
  ignoreUnderscore: true,
  nameFromFile: true,
  freeName: true,
});
