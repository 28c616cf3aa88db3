import { claudeWriter } from "./claude.ts";
import { codexWriter } from "./codex.ts";
import { copilotWriter } from "./copilot.ts";
import { crewaiWriter } from "./crewai.ts";
import { cursorWriter } from "./cursor.ts";
import { deepagentsWriter } from "./deepagents.ts";
import { factoryWriter } from "./factory.ts";
import { geminiWriter } from "./gemini.ts";
import { gencodeWriter } from "./gencode.ts";
import { gooseWriter } from "./goose.ts";
import { kiroWriter } from "./kiro.ts";
import { ompWriter } from "./omp.ts";
import { opencodeWriter } from "./opencode.ts";
import { openhandsWriter } from "./openhands.ts";
import { ownWriter } from "./own.ts";
import { piWriter } from "./pi.ts";
import { qwenWriter } from "./qwen.ts";
import { rooWriter } from "./roo.ts";
import { subagentWriter } from "./subagent.ts";
import type { Writer } from "./writer.ts";

/** The writers of all file formats, by the id of the file format that reads their files. */
export const writers: Readonly<Record<string, Writer>> = {
  own: ownWriter,
  omp: ompWriter,
  pi: piWriter,
  gencode: gencodeWriter,
  claude: claudeWriter,
  codex: codexWriter,
  gemini: geminiWriter,
  opencode: opencodeWriter,
  copilot: copilotWriter,
  cursor: cursorWriter,
  qwen: qwenWriter,
  factory: factoryWriter,
  goose: gooseWriter,
  roo: rooWriter,
  kiro: kiroWriter,
  openhands: openhandsWriter,
  deepagents: deepagentsWriter,
  crewai: crewaiWriter,
  subagent: subagentWriter,
};
