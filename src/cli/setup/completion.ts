import { CrewError } from "../../core/schema/error.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { CliCommand } from "../base/command.ts";
import type { CommandTable } from "./candidates.ts";

/** `subcrew completion SHELL` prints the script that a shell loads. */
export const completion: CliCommand = {
  description: "Prints a script that completes commands, flags, agents, models, runs and tasks in your shell.",
  words: "<shell>",
  usage: "bash | zsh | fish",
  options: [],
  examples: [
    ['eval "$(subcrew completion bash)"', "in ~/.bashrc"],
    ['eval "$(subcrew completion zsh)"', "in ~/.zshrc, after compinit"],
    ["subcrew completion fish > ~/.config/fish/completions/subcrew.fish", "for fish"],
  ],
  act: async ([shell = ""]) => {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined)
      throw new CrewError(
        "BAD_INPUT",
        `Completion is not available for "${shell}".`,
        `Give one of ${Object.keys(SCRIPTS).join(", ")}.`,
      );
    process.stdout.write(script);
    return 0;
  },
};

/**
 * `subcrew complete SHELL -- WORDS`: prints the completions of the last word, one per line, each with a tab and its
 * description.
 */
export const completeIn = (table: CommandTable): CliCommand => ({
  description: "Prints completions for the script of `subcrew completion`.",
  words: "<shell> [words...]",
  options: [],
  examples: [],
  act: async ([shell = "", ...words]) => {
    const { candidatesFor } = await import("./candidates.ts");
    const before = words.slice(0, -1);
    const current = words.at(-1) ?? "";
    const found = await candidatesFor(table, before, current).catch(() => []);
    // Bash replaces only the text after the last colon or equals sign.
    const cut = shell === "bash" ? Math.max(current.lastIndexOf(":"), current.lastIndexOf("=")) + 1 : 0;
    const line = (text: string): string => sanitize(text).replace(/\s+/g, " ").trim();
    const lines = found.map(({ value, about }) => `${line(value).slice(cut)}\t${line(about)}\n`);
    process.stdout.write(lines.join(""));
    return 0;
  },
});

// The completion scripts. They pass the typed words as arguments and never evaluate them.
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_subcrew() {
  local line value words=() word
  COMPREPLY=()
  # COMP_WORDS splits at ":" and "="; join such words again.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if (( \${#words[@]} > 0 )) && [[ $word == [:=]* || \${words[-1]} == *[:=] ]]; then words[-1]+=$word; else words+=("$word"); fi
  done
  while IFS=$'\\t' read -r value line; do COMPREPLY+=("$value"); done < <(subcrew complete bash -- "\${words[@]}" 2>/dev/null)
  if (( \${#COMPREPLY[@]} == 1 )) && [[ \${COMPREPLY[0]} == *[=/] ]]; then compopt -o nospace; fi
}
complete -o default -F _subcrew subcrew
`,
  zsh: `#compdef subcrew
_subcrew() {
  local -a items
  local line value about
  while IFS=$'\\t' read -r value about; do
    items+=("\${value//:/\\\\:}:$about")
  done < <(subcrew complete zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#items} )); then _describe 'subcrew' items; else _files; fi
}
compdef _subcrew subcrew
`,
  fish: `function __subcrew_complete
  set -l words (commandline -opc) (commandline -ct)
  subcrew complete fish -- $words[2..-1] 2>/dev/null
end
complete -c subcrew -a '(__subcrew_complete)'
`,
};
