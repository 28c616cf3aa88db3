import { CrewError } from "../../core/schema/error.ts";
import { reviewExhaustedOption } from "../base/flags.ts";
import { type ModeCommand, running } from "./mode.ts";

/** The command `subcrew team --input file`. */
export const group: ModeCommand = {
  mode: "team",
  description: "Runs a team from a file: members with roles, tasks that depend on each other, reviews and approvals.",
  usage: "--input FILE",
  options: [reviewExhaustedOption()],
  examples: [
    ["subcrew team --input team.yaml", "a team from a file"],
    ["subcrew team --input team.yaml --yes", "approve every approval in advance"],
    ["subcrew team --input team.yaml --review-exhausted fail", "work that no review approved fails"],
  ],
  notes: `A team in YAML:
  team:
    objective: Describe the project
    members:
      - { role: reader, agent: explore }
      - { role: editor, agent: general }
    tasks:
      - { id: facts, task: List what it does., assignee: reader }
      - { id: page, task: Write one page., assignee: editor, depends: [facts], review: { reviewer: reader } }`,
  input: async () => undefined,
  missing: new CrewError(
    "BAD_INPUT",
    "No team was given.",
    "Give a file with --input, as in `subcrew team --input team.yaml`; see `subcrew team --help` for an example.",
  ),
};

export const teamCommand = running(group);
