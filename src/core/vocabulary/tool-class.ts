/**
 * The classes of tools by what they access: files that a tool only reads, files that it changes, programs that it runs,
 * the network, other agents, the stored notes of the project; or nothing but the task itself.
 */
export const toolClasses = ["read", "write", "exec", "net", "spawn", "memory", "none"] as const;
export type ToolClass = (typeof toolClasses)[number];

/**
 * The class of a tool. A tool that does not declare what it accesses gets the strictest class, unless it only reads.
 */
export function classOf({ does, effect }: Readonly<{ does?: ToolClass; effect: "read" | "write" }>): ToolClass {
  return does ?? (effect === "read" ? "read" : "exec");
}
