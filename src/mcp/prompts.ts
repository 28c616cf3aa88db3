import { agentFor, type Skill, type WorkflowCommand } from "../core/agent/skill.ts";
import { expandCommand, expandSkill, type SkillArguments } from "../core/agent/skill-arguments.ts";
import { CrewError, isCrewError } from "../core/schema/error.ts";
import type { Crew } from "../crew/crew-type.ts";
import type { ProtocolServer, Sdk } from "./sdk.ts";

/** Handles the requests of MCP clients about prompts. */
export function servePrompts(server: ProtocolServer, sdk: Sdk, crew: Crew): void {
  const prompts = promptsOf(crew);
  const refused = (message: string): Error => new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message);
  server.setRequestHandler("prompts/list", async () => ({
    prompts: (await prompts.list()).map((prompt) => ({ ...prompt, arguments: [...prompt.arguments] })),
  }));
  server.setRequestHandler("prompts/get", async ({ params }) => {
    const found = await prompts.text(params.name, params.arguments ?? {}).catch((error: unknown) => {
      throw isCrewError(error) ? refused(`${error.message} ${error.hint}`) : error;
    });
    if (!found) throw refused(`Unknown prompt "${params.name}". \`prompts/list\` lists the prompts.`);
    const { description, text } = found;
    return { description, messages: [{ role: "user", content: { type: "text", text } }] };
  });
}

/** A workflow command or skill as a client lists it. */
type ListedPrompt = Readonly<{ name: string; description: string; arguments: readonly PromptArgument[] }>;
type PromptArgument = Readonly<{ name: string; description: string; required: boolean }>;

/** The prompts of a server: every workflow command and every skill that a person may start. */
type Prompts = Readonly<{
  list(): Promise<readonly ListedPrompt[]>;
  /**
   * The text of a prompt with its arguments; `undefined` for an unknown name. Throws when a required argument is
   * missing.
   */
  text(name: string, given: Readonly<Record<string, string>>): Promise<PromptText | undefined>;
}>;

type PromptText = Readonly<{ description: string; text: string }>;

type Workflow = ListedPrompt & Readonly<{ expand(words: SkillArguments): string; agent: string | undefined }>;

function promptsOf(crew: Pick<Crew, "commands" | "skills">): Prompts {
  const all = async (): Promise<readonly Workflow[]> => {
    const [commands, skills] = await Promise.all([crew.commands(), crew.skills()]);
    const taken = new Set(commands.all.map(({ name }) => name));
    const shown = skills.all.filter(({ userInvocable }) => userInvocable);
    return [...commands.all.map(ofCommand), ...shown.map((skill) => ofSkill(skill, taken))];
  };
  return {
    list: async () =>
      (await all()).map(({ name, description, arguments: named }) => ({ name, description, arguments: named })),
    text: async (name, given) => {
      const found = (await all()).find((each) => each.name === name);
      if (!found) return undefined;
      const text = found.expand(wordsFor(found, given));
      return { description: found.description, text: found.agent === undefined ? text : handedTo(found.agent, text) };
    },
  };
}

const ofCommand = (command: WorkflowCommand): Workflow => ({
  ...listed(command, command.name),
  expand: (words) => expandCommand(command.instructions, words),
  agent: command.agent,
});

/** Converts a skill to a prompt. If a command has the same name, the skill is listed as `skill:NAME`. */
const ofSkill = (skill: Skill, taken: ReadonlySet<string>): Workflow => ({
  ...listed(skill, taken.has(skill.name) ? `skill:${skill.name}` : skill.name),
  expand: (words) => expandSkill(skill.instructions, words),
  agent: skill.context === "fork" ? agentFor(skill) : undefined,
});

function listed({ description, argumentHint }: WorkflowCommand, name: string): ListedPrompt {
  return {
    name,
    description: description === "" ? name : description,
    arguments: namedArguments(argumentHint) ?? [
      { name: ALL, description: argumentHint ?? "the text after the name of the command", required: false },
    ],
  };
}

/** The single argument of a prompt whose hint does not name its arguments. */
const ALL = "arguments";

/** The arguments in a hint such as `<issue> [branch]`; angle brackets mark required arguments. */
function namedArguments(hint: string | undefined): readonly PromptArgument[] | undefined {
  const words = hint?.trim().split(/\s+/) ?? [];
  const named = words.map((word) => /^(?:<([\w-]+)>|\[([\w-]+)\])$/.exec(word));
  const names = named.flatMap((match) => match?.[1] ?? match?.[2] ?? []);
  if (names.length === 0 || names.length < words.length || new Set(names).size < names.length) return undefined;
  return names.map((name, index) => ({ name, description: name, required: named[index]?.[1] !== undefined }));
}

function wordsFor({ name, arguments: named }: Workflow, given: Readonly<Record<string, string>>): SkillArguments {
  const missing = named.find((argument) => argument.required && (given[argument.name] ?? "") === "");
  if (missing)
    throw new CrewError(
      "BAD_INPUT",
      `The prompt "${name}" needs the argument "${missing.name}".`,
      "`prompts/list` names the arguments of each prompt.",
    );
  const [only] = named;
  if (only?.name === ALL && named.length === 1) return given[ALL] ?? "";
  return named.map((argument) => given[argument.name] ?? "");
}

/** A text that asks the client's model to delegate a workflow to the agent that the workflow names. */
const handedTo = (agent: string, text: string): string =>
  `Call the tool \`run\` of subcrew with the agent "${agent}" and the following task, word for word. Then report its result.\n\n${text}`;
