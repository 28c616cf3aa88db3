/** The part of a main agent's prompt that lists the types it can start, as system 001 words it. */
export function describeSubagentTypes(types: readonly Readonly<{ name: string; description: string }>[]): string {
  const lines = types.map(({ name, description }) => `- **${name}**: ${description}`);
  return `## Available Subagent Types\n\nWhen calling spawn_subagent(), choose the right type:\n\n${lines.join("\n")}`;
}
