/**
 * The note in a result that the offline model made because no API key was found. The host program may have started
 * subcrew without the user's variables.
 */
export const offlineNote =
  "No key of a model provider was found, so the offline model answered: it searches files and quotes them, and does not reason. " +
  "Set a key such as ANTHROPIC_API_KEY. If another program starts subcrew, let that program pass the key on (`subcrew mcp --setup TOOL`).";
