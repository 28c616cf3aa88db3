import type { Dialects } from "../core/dialect.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { crewai } from "./crewai.ts";
import { cursor } from "./cursor.ts";
import { deepagents } from "./deepagents.ts";
import { factory } from "./factory.ts";
import { gemini } from "./gemini.ts";
import { gencode } from "./gencode.ts";
import { goose } from "./goose.ts";
import { kiro } from "./kiro.ts";
import { omp } from "./omp.ts";
import { opencode } from "./opencode.ts";
import { openhands } from "./openhands.ts";
import { own } from "./own.ts";
import { pi } from "./pi.ts";
import { qwen } from "./qwen.ts";
import { roo } from "./roo.ts";
import { subagent } from "./subagent.ts";

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
