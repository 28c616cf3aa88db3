import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { messageOf } from "../../core/schema/error.ts";
import { geminiDialect } from "../../formats/dialects/gemini.ts";
import {
  type AgentDefinition,
  type AgentDto,
  dtoOf,
  markdownToAgentDefinition,
} from "../../formats/dialects/gemini-definition.ts";

/** A file that does not define an agent, with the full reason. */
export class AgentLoadError extends Error {
  readonly filePath: string;

  constructor(filePath: string, reason: string, options?: ErrorOptions) {
    super(`Failed to load agent from ${filePath}: ${reason}`, options);
    this.name = "AgentLoadError";
    this.filePath = filePath;
  }
}

/** The agents of one Markdown file; throws an `AgentLoadError` if it defines none. */
export function parseAgentMarkdown(filePath: string, content: string = read(filePath)): AgentDto[] {
  const { agents, problems } = geminiDialect.read(content, { file: filePath, relative: filePath });
  const error = problems.find(({ severity }) => severity === "error");
  if (error !== undefined) throw new AgentLoadError(filePath, error.message);
  return agents.map(dtoOf);
}

/**
 * Every agent of a directory, without subdirectories. An invalid file does not prevent the others from being loaded.
 */
export function loadAgentsFromDirectory(dir: string): { agents: AgentDefinition[]; errors: AgentLoadError[] } {
  const agents: AgentDefinition[] = [];
  const errors: AgentLoadError[] = [];
  for (const name of filesIn(dir)) {
    try {
      agents.push(...parseAgentMarkdown(join(dir, name)).map(markdownToAgentDefinition));
    } catch (error) {
      errors.push(
        error instanceof AgentLoadError
          ? error
          : new AgentLoadError(join(dir, name), messageOf(error), { cause: error }),
      );
    }
  }
  return { agents, errors };
}

function filesIn(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && geminiDialect.accepts(entry.name))
      .map(({ name }) => name)
      .sort();
  } catch {
    return []; // a missing directory is empty
  }
}

function read(filePath: string): string {
  try {
    return readRegularTextSync(filePath);
  } catch (error) {
    throw new AgentLoadError(filePath, `Could not read file: ${messageOf(error)}`, { cause: error });
  }
}
