import type { Dialects } from "../core/agent/dialect.ts";
import { claude } from "./dialects/claude.ts";
import { codex } from "./dialects/codex.ts";
import { copilot } from "./dialects/copilot.ts";
import { crewai } from "./dialects/crewai.ts";
import { cursor } from "./dialects/cursor.ts";
import { deepagents } from "./dialects/deepagents.ts";
import { factory } from "./dialects/factory.ts";
import { gemini } from "./dialects/gemini.ts";
import { gencode } from "./dialects/gencode.ts";
import { goose } from "./dialects/goose.ts";
import { kiro } from "./dialects/kiro.ts";
import { omp } from "./dialects/omp.ts";
import { opencode } from "./dialects/opencode.ts";
import { openhands } from "./dialects/openhands.ts";
import { own } from "./dialects/own.ts";
import { pi } from "./dialects/pi.ts";
import { qwen } from "./dialects/qwen.ts";
import { roo } from "./dialects/roo.ts";
import { subagent } from "./dialects/subagent.ts";

/** Every way of writing agents down. A new dialect is one file and one row. */
export const dialects: Dialects = {
  own,
  omp,
  pi,
  gencode,
  claude,
  codex,
  gemini,
  opencode,
  copilot,
  cursor,
  qwen,
  factory,
  goose,
  roo,
  kiro,
  openhands,
  deepagents,
  crewai,
  subagent,
};
