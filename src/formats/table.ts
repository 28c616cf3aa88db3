import type { Dialects } from "../core/agent/dialect.ts";
import { claudeDialect } from "./dialects/claude.ts";
import { codexDialect } from "./dialects/codex.ts";
import { copilotDialect } from "./dialects/copilot.ts";
import { crewaiDialect } from "./dialects/crewai.ts";
import { cursorDialect } from "./dialects/cursor.ts";
import { deepagentsDialect } from "./dialects/deepagents.ts";
import { factoryDialect } from "./dialects/factory.ts";
import { geminiDialect } from "./dialects/gemini.ts";
import { gencodeDialect } from "./dialects/gencode.ts";
import { gooseDialect } from "./dialects/goose.ts";
import { kiroDialect } from "./dialects/kiro.ts";
import { ompDialect } from "./dialects/omp.ts";
import { opencodeDialect } from "./dialects/opencode.ts";
import { openhandsDialect } from "./dialects/openhands.ts";
import { ownDialect } from "./dialects/own.ts";
import { piDialect } from "./dialects/pi.ts";
import { qwenDialect } from "./dialects/qwen.ts";
import { rooDialect } from "./dialects/roo.ts";
import { subagentDialect } from "./dialects/subagent.ts";

/** All file formats of agent files. A new file format is one file and one row. */
export const dialects: Dialects = {
  own: ownDialect,
  omp: ompDialect,
  pi: piDialect,
  gencode: gencodeDialect,
  claude: claudeDialect,
  codex: codexDialect,
  gemini: geminiDialect,
  opencode: opencodeDialect,
  copilot: copilotDialect,
  cursor: cursorDialect,
  qwen: qwenDialect,
  factory: factoryDialect,
  goose: gooseDialect,
  roo: rooDialect,
  kiro: kiroDialect,
  openhands: openhandsDialect,
  deepagents: deepagentsDialect,
  crewai: crewaiDialect,
  subagent: subagentDialect,
};
