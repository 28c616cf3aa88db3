import { foldName } from "./tool-names.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Programs that published agent files list as tools although they are run by commands. */
const PROGRAMS = `
    ansible aws az azure babel bandit bundler cargo chrome-devtools composer consul cypress database datadog detox docker
    docker-compose dotnet elasticsearch eslint excel express fastapi figma firebase flutter gcc gcloud gdb git github-cli go
    gradle grafana graphql helm istio java javac jenkins jest jira jmeter jq jupyter k6 kafka kotlin kubectl kubernetes linear lighthouse
    magic make maven mcp mongodb mysql mypy nginx node nodejs notion npm numpy openai openapi pandas php pip pnpm postgres postgresql postman
    prettier prometheus psql pylint pytest pytorch rails redis redis-cli ruby ruff rust rustc scikit-learn selenium semgrep sentry slack
    snyk sonarqube spark sqlite storybook stripe supabase swift tensorflow terraform trivy tsc typescript ui-testing-tools vault vercel
    vite vitest webpack xcode yarn
`;

/**
 * Tools of other programs that have no counterpart in subcrew: tool sets and tools of VS Code and Copilot, and built-in
 * tools of other agents. Naming such a tool is not an error. Names are compared without case, `-` and `_`.
 */
const known: ReadonlySet<string> = new Set(
  words(`
    vscode vscodeAPI extensions openSimpleBrowser problems changes testFailure runTests runTasks runTask runNotebooks
    getProjectSetupInfo newWorkspace createNewWorkspace createNewJupyterNotebook runVscodeCommand installExtension
    githubRepo github githubMcp activePullRequest copilotCodingAgent issue_fetch pullRequest_read suggest-fix searchSyntax
    doSearch renderIssues terminalLastCommand terminalSelection selection getTerminalOutput createAndRunTask
    think thinking sequentialthinking sequential-thinking memory context7 playwright microsoft.docs.mcp
    LSP ExitPlanMode EnterPlanMode EnterWorktree ExitWorktree ToolSearch ListMcpResourcesTool ReadMcpResourceTool SlashCommand
    TaskStop TaskList TeamCreate TeamDelete CronCreate CronDelete CronList Monitor RemoteTrigger PushNotification
    browser browser_action computer image_generation view_image js_repl code_interpreter
    lsp ast_grep ast_edit python notebook calculator ssh puppeteer inspect_image render_mermaid checkpoint rewind
    doom_loop external_directory read_many_files_glob knowledge introspect use_aws delegate_web
    diagnostics fetch_rules reapply switch_mode access_mcp_resource use_mcp_tool codebase_search list_code_definition_names
    fetch_instructions generate_image run_slash_command update_memory rename usages_list getErrors get_errors
    get_changed_files list_code_usages test_search test_failure semantic_search open_simple_browser run_vscode_command
    get_search_view_results get_vscode_api github_repo create_new_workspace create_new_jupyter_notebook edit_notebook_file
    run_notebook_cell get_notebook_summary install_python_packages configure_python_environment get_python_environment_details
    manage_todo_list_items fetch_webpage_content askQuestions vscode_askQuestions switchAgent handoff
    ${PROGRAMS}
  `).map(foldName),
);

/**
 * True for a tool of another program that has no counterpart in subcrew. `set/tool` is recognised by its last part or
 * by its set.
 */
export function isForeignTool(name: string): boolean {
  const parts = name.split("/");
  return known.has(foldName(name)) || parts.some((part) => known.has(foldName(part)));
}
