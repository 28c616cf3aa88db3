import { prompts } from "../../embedded.ts";

/** What a host's model is told about the server. The build writes the text here, so that the bundled agents are not read for it. */
export const instructions: string = prompts.mcpInstructions;
