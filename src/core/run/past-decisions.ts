import type { Subject } from "../rules/call-subject.ts";
import { exactRule, type Rule } from "../rules/rule.ts";
import { isRecord } from "../text/json.ts";
import type { KeptEvent } from "./event.ts";

/** A person's recorded decision about a tool call, and the rules that would decide in the same way. */
export type Decision = Readonly<{
  run: string;
  path: string;
  tool: string;
  approve: boolean;
  by: string;
  at: number;
  rules: readonly Rule[];
}>;

/** The subjects of a tool call (paths, URLs, commands), as the tool itself reports them. */
export type SubjectsOf = (tool: string, input: unknown) => readonly Subject[] | undefined;

/** Every decision about a tool call in a journal, as rules that cover exactly that call. */
export function decisionsIn(events: readonly KeptEvent[], subjectsOf: SubjectsOf): Decision[] {
  const calls = new Map<string, { name: string; input: unknown }>();
  const decisions: Decision[] = [];
  for (const event of events) {
    if (event.type === "turn.ended")
      for (const { id, name, input } of event.calls) calls.set(`${event.path}#${id}`, { name, input });
    if (event.type !== "gate.answered" || event.call === undefined) continue;
    const call =
      calls.get(`${event.path}#${event.call.replace(/\.\d+$/, "")}`) ?? calls.get(`${event.path}#${event.call}`);
    if (!call) continue;
    const { run, path, at, answer } = event;
    decisions.push({
      run,
      path,
      at,
      tool: call.name,
      approve: answer.approve,
      by: answer.by ?? "somebody",
      rules: rulesFor(call.name, call.input, subjectsOf),
    });
  }
  return decisions;
}

function rulesFor(tool: string, input: unknown, subjectsOf: SubjectsOf): Rule[] {
  const subjects = isRecord(input) ? (subjectsOf(tool, input) ?? []) : [];
  return subjects.map((subject) => {
    switch (subject.kind) {
      case "path":
        return exactRule(tool, subject.path);
      case "command":
        return exactRule(tool, subject.command);
      case "url":
        return exactRule(tool, subject.url);
      case "name":
        return exactRule(tool, subject.name);
    }
  });
}
