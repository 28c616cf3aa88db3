/** A text that is put in front of an agent: with arguments, and for the agent that it names. */
export type Skill = Readonly<{
  name: string;
  description: string;
  /** What the agent is told; `$ARGUMENTS` and `$0`, `$1`, ... stand for the arguments. */
  instructions: string;
  /** `fork`: in an agent of its own. `inline`: in the conversation that asks for it, where there is one. */
  context: "fork" | "inline";
  /** The agent that does it; `general` when it names none. */
  agent?: string;
  model?: string | readonly string[];
  /** What its author would not have asked about. It gives no rights here. */
  allowedTools?: readonly string[];
  argumentHint?: string;
  /** Only a person may start it. */
  disableModelInvocation: boolean;
  /** False: only for models, and left out of the lists that people see. */
  userInvocable: boolean;
  source: "bundled" | "user" | "project" | "plugin";
  file?: string;
}>;

/** A prompt of a workflow, under a name; `$@`, `$ARGUMENTS` and `$1`, `$2`, ... stand for what follows the name. */
export type WorkflowCommand = Readonly<
  Pick<Skill, "name" | "description" | "instructions" | "agent" | "model" | "argumentHint" | "source" | "file">
>;

/** The agent of a skill or command that names none. */
export const DEFAULT_SKILL_AGENT = "general";

/** Which agent a skill or command is handed to. */
export const agentFor = ({ agent }: Pick<Skill, "agent">): string => agent ?? DEFAULT_SKILL_AGENT;

/** The description of a file that gives none: its first line that is no heading. */
export function firstParagraph(body: string): string {
  const lines = body.split("\n").map((line) => line.trim());
  return lines.find((line) => line !== "" && !/^#{1,6}(?:\s|$)/.test(line)) ?? "";
}
