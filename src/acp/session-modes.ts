import type { PolicyMode } from "../core/policy/policy.ts";

/** A permission mode as the editor shows it. */
export type ListedMode = Readonly<{ id: PolicyMode; name: string; description: string }>;

const plan: ListedMode = { id: "plan", name: "Plan", description: "Agents only read." };

const modes: readonly ListedMode[] = [
  { id: "dontAsk", name: "Read only", description: "Calls that need your permission are refused." },
  { id: "default", name: "Ask", description: "You are asked before files change and commands run." },
  { id: "acceptEdits", name: "Accept edits", description: "Files in the folder change without asking." },
  { id: "bypass", name: "Bypass", description: "Everything is allowed without asking." },
];

/**
 * The modes that a session may switch to. In plan mode agents have no tools that change anything, and a conversation
 * keeps its tools, so a server that was started in plan mode stays in it.
 */
export const modesFrom = (first: PolicyMode): readonly ListedMode[] => (first === "plan" ? [plan] : modes);
