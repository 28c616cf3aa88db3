import { cutHead } from "../text/cut.ts";
/** A skill: a prompt with arguments, for the agent that it names. */
export type Skill = Readonly<{
  name: string;
  description: string;
  /** The prompt; `$ARGUMENTS` and `$0`, `$1`, ... are replaced by the arguments. */
  instructions: string;
  /**
   * `fork`: a separate agent runs the skill. `inline`: the skill is added to the current conversation, if there is one.
   */
  context: "fork" | "inline";
  /** The agent that runs the skill; default `general`. */
  agent?: string;
  model?: string | readonly string[];
  /** Tools that the skill's author pre-approved. In subcrew this list grants no permissions. */
  allowedTools?: readonly string[];
  argumentHint?: string;
  /** True: only a person may start the skill, not a model. */
  disableModelInvocation: boolean;
  /** False: the skill is only for models, and hidden from lists for people. */
  userInvocable: boolean;
  source: "bundled" | "user" | "project" | "plugin";
  file?: string;
}>;

/** A workflow command: a named prompt; `$@`, `$ARGUMENTS` and `$1`, `$2`, ... are replaced by its arguments. */
export type WorkflowCommand = Readonly<
  Pick<Skill, "name" | "description" | "instructions" | "agent" | "model" | "argumentHint" | "source" | "file">
>;

/** The agent of a skill or command that does not name an agent. */
export const DEFAULT_SKILL_AGENT = "general";

/** The agent that runs a skill or command. */
export const agentFor = ({ agent }: Pick<Skill, "agent">): string => agent ?? DEFAULT_SKILL_AGENT;

/** The default description of a file: its first line that is not a heading, that is, does not begin with a hash. */
export function firstParagraph(body: string): string {
  const lines = body.split("\n").map((line) => line.trim());
  const found = lines.find((line) => line !== "" && !line.startsWith("#")) ?? "";
  return cutHead(found, DESCRIPTION_CHARS).text;
}

/** Maximum length of a description that is taken from the text of a skill. */
const DESCRIPTION_CHARS = 200;
