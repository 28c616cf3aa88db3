import type { RunEnvironment } from "../run/event.ts";

/** What a model is told about the place where it works. */
export type Environment = RunEnvironment & Readonly<{ folder: string; platform: string; sandbox: string }>;

/** Four lines of the system prompt. */
export const environmentText = ({ folder, platform, date, git, sandbox }: Environment): string =>
  `Working folder: ${folder}\nPlatform: ${platform}. Date: ${date}.\nGit at the start: ${git}.\nSandbox: ${sandbox}.`;

/** The sandbox of a task's commands, as far as its model has to know it. */
export type SandboxFacts = Readonly<{
  level: "full" | "partial" | "none";
  /** One line about it, for people. */
  text: string;
  /** True: the user disabled the sandbox. */
  waived: boolean;
  network: boolean;
  /** The folders that may be written besides the working folder. */
  roots: readonly string[];
  /** The files that the task may write, if it declared them. */
  leased?: readonly string[];
}>;

/** Whether a sandbox holds and what it forbids; `undefined`: the task runs no commands. */
export function sandboxText(facts: SandboxFacts | undefined): string {
  if (facts === undefined) return "not needed, this task runs no commands";
  const { level, text, waived, network, roots, leased } = facts;
  if (waived) return "off, commands run with the full rights of the user";
  if (level === "none") return "none works here, so each command needs an approval";
  if (level === "partial") return text.replace(/^sandbox: /, "").replace(/\.$/, "");
  const folders = leased ?? ["the working folder", ...roots];
  const written = [...folders, "/tmp"].join(", ").replace(/, (?=\/tmp$)/, " and ");
  return `yes, commands write only in ${written}, read no secret files and have ${network ? "network" : "no network"}`;
}

/** A system prompt without these lines: they differ between machines and days. */
export const withoutEnvironment = (system: string): string => system.replace(LINES, "");

const LINES = /\n\nWorking folder: .+\nPlatform: .+\nGit at the start: .+\nSandbox: .+/;
