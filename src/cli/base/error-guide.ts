import { exitCodeOf, failed, type FaultCode } from "../../core/outcome/outcome.ts";
import { type ErrorCode, exitCodeOfError, isCode } from "../../core/schema/error.ts";

/** The cause and the fix of every error code. */
export const errorGuide: Readonly<Record<ErrorCode | FaultCode, readonly [cause: string, fix: string]>> = {
  BAD_INPUT: [
    "a flag, an argument or an input file does not have the expected form.",
    "The message names the faulty part and the expected value. `subcrew COMMAND --help` shows examples.",
  ],
  BAD_FILE: ["a file that was named does not exist or cannot be read.", "Check the path and its permissions."],
  BAD_AGENT: [
    "an agent file cannot be used: required keys are missing, or its dialect rejects a key.",
    "Run `subcrew agents lint`, or `subcrew agents lint --fix` to correct what can be corrected automatically.",
  ],
  BAD_CONFIG: [
    "a settings file or a `SUBCREW_*` variable has an unknown key or a wrong value.",
    "The message names file and line. `subcrew config list` shows the settings in effect.",
  ],
  BAD_CHANGE: [
    "a change to the plan of a run is not valid, or the run has ended.",
    "Change a plan between `run.started` and `run.ended`, and refer to nodes that exist.",
  ],
  UNKNOWN_AGENT: [
    "no agent has this name.",
    "`subcrew agents` lists all agents; the message suggests the nearest name.",
  ],
  UNKNOWN_MODEL: [
    "no provider knows this model name, or its provider is not set up.",
    "`subcrew models` lists names, tiers and providers. Write `provider/model` for a model that is not listed.",
  ],
  UNKNOWN_TOOL: ["no tool has this name.", "See the list in [Tools](tools.md)."],
  UNKNOWN_RUN: ["no stored run has this id, prefix or name.", "`subcrew ps --all` lists stored runs."],
  UNKNOWN_GATE: [
    "the question is not open: it was answered, or its run ended.",
    "`subcrew inbox` lists open questions.",
  ],
  RUN_DAMAGED: [
    "the journal of the run is damaged before its end.",
    "`subcrew show RUN` prints the readable part. Start the work again in a new run.",
  ],
  RUN_UNFINISHED: [
    "the run has no result yet.",
    "`subcrew wait RUN` waits for the result; `subcrew resume RUN` continues a stopped run.",
  ],
  NOT_RESUMABLE: [
    "the task cannot be continued: it is too old, was continued too often, or left no conversation.",
    "Start a new run, or raise `resume.expiresAfterDays` and `resume.maxContinuations` in the settings.",
  ],
  MISSING_KEY: [
    "the provider of the model has no key.",
    "Export the key of the provider, for example `ANTHROPIC_API_KEY`; `subcrew doctor` checks the key.",
  ],
  NO_WORKER: [
    "no worker of the engine can run the task.",
    "Start a worker that offers what the message names; see [Past one machine](scale-out.md).",
  ],
  MISSING_PEER: ["a feature needs a package that is not installed.", "Install the package that the message names."],
  PLAN_INVALID: [
    "a plan does not have the right form.",
    "The message names the faulty part of the plan; see [Plans](plans.md).",
  ],
  PLAN_EMPTY: ["a plan has no nodes.", "Add at least one task."],
  PLAN_NO_OUTPUT: ["`output` of a plan names no node.", "Set `output` to the node whose result you want."],
  PLAN_UNKNOWN_NEED: [
    "a node needs a node that does not exist.",
    "Correct the name; the message suggests the nearest one.",
  ],
  PLAN_UNKNOWN_REFERENCE: [
    "a placeholder such as `{name}` refers to nothing.",
    "Correct the name. In the prompts of modes this is an error only with `--strict`.",
  ],
  PLAN_DUPLICATE_ID: ["two tasks have the same id.", "Give each its own id."],
  PLAN_SELF_DEPENDENCY: ["a task depends on itself.", "Remove that dependency."],
  PLAN_CYCLE: ["tasks depend on each other in a circle.", "Remove one of the dependencies that the message lists."],
  PLAN_UNUSED_NODE: [
    "one of the nodes is not needed for the result.",
    "Let the output depend on that node, or remove the node.",
  ],
  PLAN_TOO_DEEP: ["loops are nested too deeply.", "Nest fewer loops inside other loops."],
  STATE_UNWRITABLE: [
    "the state folder (`~/.subcrew` or `$SUBCREW_HOME`) cannot be written: permissions, or a full disk.",
    "Free space or correct permissions; `subcrew doctor` checks both.",
  ],
  TOO_MANY_FILES: [
    "the process, or the machine, has as many open files as it may have (EMFILE, ENFILE).",
    "Raise the limit in this shell, as in `ulimit -n 4096`, and run the command again.",
  ],
  OUTPUT_UNWRITABLE: [
    "the output of a command (standard output, or the file of `--output-file`) cannot be written, for example because the disk is full.",
    "Write the output to another place. The result of a run is kept: `subcrew result` prints it again.",
  ],
  WORKER_FAILED: [
    "the process of a background run could not start.",
    "The message shows the last lines of the process output. Run `subcrew doctor`.",
  ],
  LOGIN_FAILED: [
    "signing in to an MCP server or a remote agent failed.",
    "For an MCP server, run `subcrew mcp login NAME`. For a remote agent, check `auth` in the agent file, and run the agent in a terminal.",
  ],
  ENGINE_UNREACHABLE: [
    "the database of `--engine` does not answer.",
    "Check the address and the network; `subcrew engine dev` starts a database on this machine. See [Scale-out](scale-out.md).",
  ],
  ENGINE_OUTDATED: [
    "the tables of the database and this version of subcrew have different versions.",
    "Run `subcrew engine migrate`, or update subcrew.",
  ],
  RUN_BUSY: [
    "another process works on this run.",
    "`subcrew status RUN` shows the run and `subcrew attach RUN` follows it. `resume --force` takes the run over from a machine that is gone.",
  ],
  TOO_MANY_RUNS: ["too many runs are in the background.", "Wait until a run ends, or raise `background.maxRuns`."],
  TOO_DEEP: [
    "the chain of agents that start agents is longer than allowed.",
    "Raise `--max-depth`, or let the first agent do the work.",
  ],
  UNTRUSTED: [
    "the agent, command or setting comes from a project that you do not trust yet, or its file changed since.",
    "Look at the agent with `subcrew agents show NAME`, then run `subcrew trust`.",
  ],
  NO_SANDBOX: [
    "a sandbox is required and this machine cannot make one.",
    "`subcrew doctor` says what is missing. `--sandbox auto` uses a sandbox where possible.",
  ],
  DISABLED: [
    "the agent is disabled in the settings or in its file.",
    "Enable the agent: `subcrew agents enable NAME`.",
  ],
  NEEDS_LOGIN: [
    "an MCP server or a remote agent wants you to sign in.",
    "For an MCP server, run `subcrew mcp login NAME`. For a remote agent, run the agent once in a terminal.",
  ],
  CRASHED: [
    "the process or thread of the task ended before the task was done, or the code of a tool or model crashed.",
    "The message shows the exit code and the last lines of output. `--retry 2` retries the task.",
  ],
  SOME_FAILED: [
    "some of several tasks failed.",
    "`subcrew status RUN` lists them; `subcrew resume RUN --retry-failed` tries them again.",
  ],
  ALL_FAILED: ["every agent or model in the race failed.", "`subcrew status RUN` shows why each of them failed."],
  MARKED_FAILED: ["the task was marked as failed by a change of the plan.", "Nothing, if that was intended."],
  NOT_ACCEPTED: [
    "the answer did not pass `--accept-cmd` or `--accept-schema`.",
    "`subcrew result RUN` shows the answer. Correct the check or the prompt.",
  ],
  NOT_APPROVED: [
    "the reviewer did not approve the work in all rounds.",
    "Raise `maxIterations`, or read the feedback in `subcrew show RUN`.",
  ],
  CONFLICT: [
    "changes from a worktree conflict with the workspace.",
    "The patch is kept: `subcrew diff RUN` shows it, `subcrew apply RUN` tries again to apply it.",
  ],
  AGENT_REPORTED: [
    "the agent itself reported that it could not do the task.",
    "Read the reason; give the agent the missing tool or information.",
  ],
  STUCK: ["the agent repeated the same calls without progress.", "Give a more precise prompt, or another model."],
  DRIFT: [
    "a replayed run made a request that the recording does not contain.",
    "Record the run again with `--record`.",
  ],
  MODEL_AUTH: [
    "the provider refused the key.",
    "Check the key; `subcrew doctor` asks the provider. Then `subcrew resume RUN`.",
  ],
  MODEL_RATE_LIMIT: [
    "the provider refuses more requests for now (rate limit).",
    "Lower `--concurrency`. With `--on-provider-fault park` the run waits and continues by itself.",
  ],
  MODEL_OVERLOADED: [
    "the provider is overloaded or down.",
    "Try later with `subcrew resume RUN`, or name a fallback: `--model a,b`.",
  ],
  MODEL_CONTEXT: [
    "the conversation is longer than the context window of the model.",
    "Use a model with a larger window, or split the task.",
  ],
  MODEL_REFUSED: ["the model refused to answer.", "Change the prompt or the model."],
  MODEL_NETWORK: [
    "the provider could not be reached.",
    "Check network, proxy and the address in `providers.NAME.baseURL`.",
  ],
  MODEL_BAD_ANSWER: [
    "the provider sent a response that is not an answer of a model.",
    "Check that the address and the type of the provider match.",
  ],
  MODEL_UNKNOWN: [
    "the provider does not know the model.",
    "`subcrew models` shows what the names mean here and which providers answer.",
  ],
  REMOTE_AUTH: ["a remote agent refused the credentials.", "Check the token of the agent; see [A2A](a2a.md)."],
  REMOTE_BUSY: ["a remote agent has no capacity.", "Try again later."],
  REMOTE_CARD: ["the card of a remote agent cannot be read.", "Check the address of the agent."],
  REMOTE_FAILED: ["the remote agent failed.", "The message of the agent says why."],
  REMOTE_LOST: [
    "the connection to the remote agent broke after the task was sent, so it is unknown whether the agent works on it.",
    "Ask the owner of the agent, or start the task again.",
  ],
  REMOTE_NETWORK: ["the remote agent could not be reached.", "Check address and network."],
  REMOTE_REFUSED: ["the remote agent refused the task.", "The message of the agent says why."],
  BAD_INPUTS: [
    "the agent declares inputs, and one is missing or wrong.",
    "Give the inputs with `--inputs` or `inputs`; `subcrew agents show NAME` lists them.",
  ],
  UNSUPPORTED: [
    "the task needs something that is not available where it runs, such as a function tool in a child process.",
    "The message names the alternative.",
  ],
  DENIED: [
    "a permission rule forbids an action that the task needs.",
    "`subcrew agents explain NAME` shows the rule. Change the rule if it is yours.",
  ],
  REJECTED: ["a person rejected a plan or a question of the task.", "Nothing, if that was intended."],
  NEEDS_ANSWER: [
    "the task needs an approval, and no person can answer here.",
    "Run the task in a terminal, in the background (`--bg`, then `subcrew inbox`), or allow the call with `--allow RULE`.",
  ],
  TIMEOUT: ["the task reached its time limit.", "Raise `--max-time`, or give the agent less to do."],
  MAX_TURNS: ["the task reached its limit of turns.", "Raise `--max-turns`."],
  MAX_TOOL_CALLS: ["the task reached its limit of tool calls.", "Raise `--max-tool-calls`."],
  BUDGET: [
    "the budget of the run, the day or the project is used up.",
    "Raise `--max-usd` or `--max-tokens` and resume the run.",
  ],
  MEMORY: ["the task used more memory than allowed.", "Raise `--max-memory`."],
  CPU: ["the task used more processor time than allowed.", "Raise `resourceLimits.maxCpuSeconds`."],
  INVALID_OUTPUT: [
    "the answer does not match the schema, even after the agent was asked to correct it.",
    "Simplify the schema, or use a stronger model.",
  ],
  EMPTY: ["the agent ended without an answer.", "Give a more precise prompt, or another model."],
};

/** True for an error code, or a failure code of a task. */
export function isKnownCode(word: string): word is ErrorCode | FaultCode {
  return Object.hasOwn(errorGuide, word);
}

/** The explanation and the fix of an error code, for `subcrew help CODE`. */
export function explainCode(code: ErrorCode | FaultCode): string {
  const [cause, fix] = errorGuide[code];
  const exit = isCode(code) ? exitCodeOfError(code) : exitCodeOf(failed(code, ""));
  return [`${code} (exit code ${exit})`, "", `Cause: ${cause}`, `Fix: ${fix}`, ""].join("\n");
}
