import { Option } from "commander";

/** The agent of a conversation for which no agent was named. */
export const MAIN_AGENT = "lead";

export const mainAgentOption = (): Option =>
  new Option("--agent <name>", "the agent to talk to").default(MAIN_AGENT).helpGroup("Work:");
