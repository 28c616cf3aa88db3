import type { Dialect, FilePlace } from "../../core/agent/dialect.ts";
import { addProblem, defineFields } from "../fields/draft.ts";
import { markdown } from "../fields/markdown.ts";
import { kept, model, text } from "../fields/rules.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

/** The name of the folder that contains an agent's `SUBAGENT.md`. */
const folderOf = ({ relative }: FilePlace): string => relative.split("/").at(-2) ?? "";

/**
 * `SUBAGENT.md` folders. A file without frontmatter is a prompt as a whole, and gets the name of its folder. A file
 * with a name must have the name of its folder, or is refused.
 */
export const subagentDialect: Dialect = markdown({
  id: "subagent",
  accepts: (name) => name === "SUBAGENT.md",
  nameRule: /^[a-z0-9][a-z0-9-]{0,63}$/,
  nameFromFile: folderOf,
  description: "optional",
  bare: true,
  settle: (draft, _data, place) => {
    const { name } = draft.agent;
    const folder = folderOf(place);
    if (name === undefined || folder === "" || name === folder) return;
    const message = `The name "${name}" is not the name of its folder "${folder}".`;
    addProblem(draft, "name-differs", message, {
      field: "name",
      hint: `Write \`name: ${folder}\`, or rename the folder.`,
    });
  },
  fields: defineFields({
    ...narrowing(),
    name: text("name"),
    description: text("description"),
    tools: tools(),
    model,
    color: kept(),
  }),
});
