import { resolve } from "node:path";
import type { Body } from "../../core/plan/plan.ts";
import { ACP } from "../../core/vocabulary/runner-name.ts";
import { folderContains } from "../files/folder-contains.ts";
import { realPathOf } from "../files/real-path.ts";

/**
 * Why the plan of a client, such as another agent program, is refused: only people choose in which folders agents work
 * and which commands run. A symbolic link in the workspace may lead anywhere, so real paths are compared.
 */
export function clientPlanRefusal(
  { nodes }: Body,
  workspace: string,
): Readonly<{ message: string; hint: string }> | undefined {
  for (const node of Object.values(nodes)) {
    const inner = node.kind === "loop" ? clientPlanRefusal(node.body, workspace) : undefined;
    if (inner) return inner;
    if (node.kind !== "task") continue;
    const { cwd, runner } = node.task;
    if (cwd !== undefined && !folderContains(realPathOf(workspace), realPathOf(resolve(workspace, cwd))))
      return {
        message: `"${cwd}" is outside of the working folder of this server.`,
        hint: "Give a folder inside of the working folder, or start the server in that folder.",
      };
    if (runner?.startsWith(ACP))
      return {
        message: `A client cannot choose a command to run ("${runner.slice(0, 200)}").`,
        hint: "Leave out `runner`, or ask the user to name the command in an agent file.",
      };
  }
  return undefined;
}
