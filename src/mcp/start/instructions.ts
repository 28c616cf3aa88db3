import { prompts } from "../../embedded.ts";

/**
 * The text about the server for a host's model. The build inserts it into this file, so that the bundled agents need
 * not be loaded for it.
 */
export const instructions: string = prompts.mcpInstructions;
