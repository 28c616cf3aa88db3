import type { Dialect } from "../../core/agent/dialect.ts";
import { DELEGATION_TOOL } from "../../core/vocabulary/tool-names.ts";
import { defineFields, type Fields, type KeyReader, put } from "../fields/draft.ts";
import { markdown } from "../fields/markdown.ts";
import { bad, flagOf, kept, model, output, readSkills, readThinking, text } from "../fields/rules.ts";
import { disallowedTools } from "../fields/denied-tools.ts";
import { spawns } from "../fields/spawns.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

/** Reads `blocking`; `true`: the caller waits for the agent. `false` is the default. */
const blocking: KeyReader = (draft, value, key) => {
  const read = flagOf(value);
  if (read === undefined) bad(draft, key, "true or false");
  else if (read) put(draft, "background", false, key);
};

/** The keys of oh-my-pi: those in its documentation, and keys that were added later. */
export const ompFields: Fields = defineFields({
  ...narrowing(),
  name: text("name"),
  description: text("description"),
  systemPrompt: text("instructions"),
  tools: tools(),
  disallowedTools: disallowedTools(),
  spawns,
  model,
  thinkingLevel: readThinking,
  thinking: readThinking,
  output,
  blocking,
  autoloadSkills: readSkills,
  readSummarize: kept(),
  prewalk: kept(),
  advisor: kept(),
  color: kept(),
});

/** oh-my-pi's files. HTML comments are not part of the prompt, and a plain last message is accepted as result. */
export const ompDialect: Dialect = markdown({
  id: "omp",
  fields: ompFields,
  freeName: true,
  body: withoutComments,
  settle: ({ agent, from }) => {
    agent.completion = "tool-or-text";
    from["completion"] = "(dialect)";
    // In oh-my-pi every agent that may start agents has the delegation tool, listed or not.
    if (agent.tools !== undefined && agent.spawns !== undefined && agent.spawns.length > 0)
      agent.tools = [...new Set([...agent.tools, DELEGATION_TOOL])];
  },
});

/** The text without its HTML comments. */
export function withoutComments(body: string): string {
  let text = "";
  let at = 0;
  for (let start = body.indexOf("<!--"); start !== -1; start = body.indexOf("<!--", at)) {
    const end = body.indexOf("-->", start + 4);
    if (end === -1) break; // an unclosed comment is text; searching for its end repeatedly would be quadratic
    text += body.slice(at, start);
    at = end + 3;
  }
  return at === 0 ? body : (text + body.slice(at)).trim();
}
