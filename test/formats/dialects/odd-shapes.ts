/**
 * Odd but real ways of writing the rights of an agent, in our own words. `most` and `least` are the most and the fewest
 * rights that the words give, written by hand from the documentation of the formats; `denied` are commands that must
 * not run.
 */
export type OddShape = Readonly<{
  keys: string;
  most: readonly string[];
  least: readonly string[];
  denied?: readonly string[];
  /** Dialects in which the same words have another meaning. */
  but?: Readonly<Record<string, Partial<Pick<OddShape, "most" | "least">>>>;
}>;

const words = (text: string): string[] => text.trim().split(/\s+/);

const looks = words(`
  read_file list_files get_file_info grep_files glob current_time json_parse base64_decode http_get web_search
  memory_list memory_read task_list task_replay notify todo skill ask
`);
const finds = ["read_file", "grep_files", "glob", "list_files"];
const rg = ["read_file", "grep_files"];
const shell = ["bash", "bash_output", "kill_shell"];
const changes = ["write_file", "edit_file", "delete_file", "move_file"];
const servers = ["github__get_issue", "github__delete_repo", "my_server__run"];
export const every: readonly string[] = [
  ...new Set([...looks, ...shell, ...changes, ...servers, "http_post", "http_request", "memory_write"]),
];
const without = (...gone: readonly string[]): readonly string[] => every.filter((tool) => !gone.includes(tool));
const D = "description: Waters.";

export const oddShapes: Readonly<Record<string, OddShape>> = {
  "tab-list": { keys: `${D}\ntools:\n\t- Read\n\t- Grep`, most: finds, least: rg },
  "tab-sep": { keys: `${D}\ntools:\tRead,\tGrep`, most: finds, least: rg },
  "flow-multi": { keys: `${D}\ntools: [Read,\n  Grep,\n  Glob,]`, most: finds, least: rg },
  "flow-comment": { keys: `${D}\ntools: [\n  Read, # reading\n  # Write,\n  Grep\n]`, most: finds, least: rg },
  "list-comment": { keys: `${D}\ntools:\n  - Read\n  # - Write\n\n  - Grep # search`, most: finds, least: rg },
  anchor: { keys: `${D}\nbase: &t [Read, Grep]\ntools: *t`, most: finds, least: rg },
  merge: { keys: `${D}\nbase: &b\n  disallowedTools: [Bash]\n<<: *b`, most: without(...shell), least: ["read_file"] },
  merge2: { keys: `${D}\nbase: &b\n  tools: [Read]\n<<: [*b]`, most: finds, least: ["read_file"] },
  "block-bad-indent": { keys: `description: |\nWaters plants\n  and more\ntools: Read, Grep`, most: finds, least: rg },
  "block-tabs": { keys: `description: >\n\tWaters plants\n\tdaily.\ntools: Read`, most: finds, least: ["read_file"] },
  "block-tools": { keys: `${D}\ntools: |\n  Read\n  Grep`, most: finds, least: rg },
  "block-bullets": { keys: `${D}\ntools: |\n  - Read\n  - Grep`, most: finds, least: rg },
  "star-bullets": { keys: `${D}\ntools:\n  * Read\n  * Grep`, most: finds, least: [] },
  semicolons: { keys: `${D}\ntools: Read; Grep`, most: finds, least: [] },
  and: { keys: `${D}\ntools: Read and Grep`, most: finds, least: [] },
  pipes: { keys: `${D}\ntools: Read | Grep`, most: finds, least: [] },
  backticks: { keys: `${D}\ntools: \`Read\`, \`Grep\``, most: finds, least: [] },
  dup: { keys: `${D}\ntools: Read\ntools: Bash`, most: [], least: [] },
  "dup-spelling": {
    keys: `${D}\nallowed-tools: Read\nallowedTools: Read, Bash`,
    most: finds,
    least: [],
    but: { kiro: { most: every } },
  },
  "t-empty": { keys: `${D}\ntools:`, most: [], least: [] },
  "t-null": { keys: `${D}\ntools: null`, most: [], least: [] },
  "t-tilde": { keys: `${D}\ntools: ~`, most: [], least: [] },
  "t-estr": { keys: `${D}\ntools: ''`, most: [], least: [] },
  "t-elist": { keys: `${D}\ntools: []`, most: [], least: [] },
  "t-estrlist": { keys: `${D}\ntools: ['']`, most: [], least: [] },
  "t-emap": { keys: `${D}\ntools: {}`, most: [], least: [], but: { opencode: { most: every, least: every } } },
  "t-star": { keys: `${D}\ntools: '*'`, most: every, least: every },
  "t-starlist": { keys: `${D}\ntools: ['*']`, most: every, least: every },
  "t-all": { keys: `${D}\ntools: all`, most: every, least: [] },
  "t-none": { keys: `${D}\ntools: none`, most: [], least: [] },
  "t-inherit": { keys: `${D}\ntools: inherit`, most: every, least: [] },
  "t-true": { keys: `${D}\ntools: true`, most: every, least: [] },
  "t-false": { keys: `${D}\ntools: false`, most: [], least: [] },
  "t-nonelist": { keys: `${D}\ntools: [none]`, most: [], least: [] },
  "neg-bang": { keys: `${D}\ntools: ['*', '!Bash']`, most: without(...shell), least: ["read_file"] },
  "neg-dash": { keys: `${D}\ntools: ['*', '-Bash']`, most: without(...shell), least: ["read_file"] },
  "neg-only": { keys: `${D}\ntools: ['!Bash', '!Write']`, most: without(...shell, "write_file"), least: [] },
  "neg-csv": { keys: `${D}\ntools: "Read, Grep, !Bash"`, most: finds, least: rg },
  "neg-no": { keys: `${D}\ntools: ['*', 'no Bash']`, most: without(...shell), least: [] },
  parens: {
    keys: `${D}\ntools: Read, Bash(git log:*), Bash(git diff:*)`,
    most: [...finds, ...shell],
    least: ["read_file", "bash"],
    denied: ["rm -rf x", "git push"],
  },
  "parens-flow": {
    keys: `${D}\ntools: [Read, Bash(git log *, git diff *)]`,
    most: [...finds, ...shell],
    least: ["read_file"],
    denied: ["rm -rf x"],
  },
  "parens-colon": {
    keys: `${D}\ntools:\n  - Read\n  - Bash(git log: *)`,
    most: [...finds, ...shell],
    least: ["read_file"],
    denied: ["rm -rf x"],
  },
  "parens-open": {
    keys: `${D}\ntools: Read, Bash(git log`,
    most: [...finds, ...shell],
    least: ["read_file"],
    denied: ["rm -rf x"],
  },
  "parens-space": {
    keys: `${D}\ntools: Read, Bash (git log *)`,
    most: [...finds, ...shell],
    least: ["read_file"],
    denied: ["rm -rf x"],
  },
  "parens-empty": { keys: `${D}\ntools: Read, Bash()`, most: [...finds, ...shell], least: ["read_file"] },
  brackets: { keys: `${D}\ntools: "Read, Bash[git log]"`, most: [...finds, ...shell], least: [], denied: ["rm -rf x"] },
  "map-item": {
    keys: `${D}\ntools:\n  - Read\n  - Bash: git *`,
    most: [...finds, ...shell],
    least: ["read_file"],
    denied: ["rm -rf x"],
  },
  "map-item-named": { keys: `${D}\ntools:\n  - name: Read\n  - name: Grep`, most: finds, least: [] },
  "map-allow-denied": {
    keys: `${D}\ntools:\n  allow: ['*']\n  deny: [Bash]`,
    most: without(...shell),
    least: ["read_file"],
  },
  "map-allow-csv": {
    keys: `${D}\ntools:\n  allow: Read, Grep\n  deny: Bash`,
    most: finds,
    least: [],
    but: { opencode: { most: without(...shell) } },
  },
  "map-denied": { keys: `${D}\ntools:\n  deny: [Bash]`, most: without(...shell), least: [] },
  "map-mode-denied": { keys: `${D}\ntools:\n  mode: denylist\n  deny: [Bash]`, most: without(...shell), least: [] },
  "map-allowed": {
    keys: `${D}\ntools:\n  allowed: [Read]\n  denied: [Bash]`,
    most: finds,
    least: [],
    but: { opencode: { most: without(...shell) } },
  },
  "map-words": {
    keys: `${D}\ntools:\n  Read: allow\n  Bash: deny`,
    most: finds,
    least: [],
    but: { opencode: { most: without(...shell) } },
  },
  "map-yes": {
    keys: `${D}\ntools:\n  Read: yes\n  Bash: no`,
    most: finds,
    least: ["read_file"],
    but: { opencode: { most: without(...shell) } },
  },
  "map-star": { keys: `${D}\ntools:\n  '*': true\n  bash: false`, most: without(...shell), least: ["read_file"] },
  "map-star2": { keys: `${D}\ntools:\n  '*': false\n  read: true`, most: finds, least: ["read_file"] },
  "map-null": { keys: `${D}\ntools:\n  Read:\n  Grep:`, most: finds, least: [], but: { opencode: { most: every } } },
  "map-enabled": {
    keys: `${D}\ntools:\n  bash:\n    enabled: false\n  read:\n    enabled: true`,
    most: finds,
    least: [],
    but: { opencode: { most: without(...shell) } },
  },
  "map-mcp-off": {
    keys: `${D}\ntools:\n  '*': true\n  github_delete_repo: false`,
    most: without("github__delete_repo"),
    least: ["read_file"],
  },
  "map-mcp-off2": {
    keys: `${D}\ntools:\n  '*': true\n  'my_server*': false`,
    most: without("my_server__run"),
    least: ["read_file"],
  },
  "d-space": { keys: `${D}\ndisallowedTools: Bash Write`, most: without(...shell, "write_file"), least: ["read_file"] },
  "d-semi": { keys: `${D}\ndisallowedTools: Bash; Write`, most: without(...shell, "write_file"), least: ["read_file"] },
  "d-pipe": {
    keys: `${D}\ndisallowedTools: Bash | Write`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-and": {
    keys: `${D}\ndisallowedTools: Bash and Write`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-block": {
    keys: `${D}\ndisallowedTools: |\n  Bash\n  Write`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-bullets": {
    keys: `${D}\ndisallowedTools: |\n  - Bash\n  - Write`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-map": {
    keys: `${D}\ndisallowedTools: { Bash: true, Write: true, Read: false }`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-map-null": {
    keys: `${D}\ndisallowedTools:\n  Bash:\n  Write:`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-num": { keys: `${D}\ndisallowedTools: 7`, most: looks, least: [] },
  "d-true": { keys: `${D}\ndisallowedTools: true`, most: looks, least: [] },
  "d-star": { keys: `${D}\ndisallowedTools: '*'`, most: [], least: [] },
  "d-all": { keys: `${D}\ndisallowedTools: all`, most: looks, least: [] },
  "d-none": { keys: `${D}\ndisallowedTools: none`, most: every, least: ["read_file"] },
  "d-paren": {
    keys: `${D}\ndisallowedTools: Bash(rm:*)`,
    most: every,
    least: ["read_file"],
    denied: ["rm x", "rm -rf x", "cd a && rm x"],
  },
  "d-paren-space": { keys: `${D}\ndisallowedTools: Bash (rm *)`, most: every, least: ["read_file"], denied: ["rm x"] },
  "d-paren-flow": {
    keys: `${D}\ndisallowedTools: [Bash(rm *, mv *)]`,
    most: every,
    least: ["read_file"],
    denied: ["rm x", "mv a b"],
  },
  "d-paren-colon": {
    keys: `${D}\ndisallowedTools:\n  - Bash(rm: *)\n  - Write`,
    most: without("write_file"),
    least: ["read_file"],
    denied: ["rm x"],
  },
  "d-paren-open": { keys: `${D}\ndisallowedTools: Bash(rm *`, most: every, least: ["read_file"], denied: ["rm x"] },
  "d-map-item": {
    keys: `${D}\ndisallowedTools:\n  - Bash: rm *\n  - name: Write`,
    most: without("write_file"),
    least: ["read_file"],
    denied: ["rm x"],
  },
  "d-glob": {
    keys: `${D}\ndisallowedTools: ['*Edit*', 'Write*', 'mcp__github__delete_*']`,
    most: without("write_file", "edit_file", "github__delete_repo"),
    least: ["read_file"],
  },
  "d-mcp": {
    keys: `${D}\ndisallowedTools: mcp__github`,
    most: without("github__get_issue", "github__delete_repo"),
    least: ["read_file", "my_server__run"],
  },
  "d-mcp1": { keys: `${D}\ndisallowedTools: mcp_my_server_run`, most: without("my_server__run"), least: ["read_file"] },
  "d-mcpall": { keys: `${D}\ndisallowedTools: mcp__*`, most: without(...servers), least: ["read_file"] },
  "d-mcpall2": { keys: `${D}\ndisallowedTools: "mcp*"`, most: without(...servers), least: ["read_file"] },
  "d-bang": { keys: `${D}\ndisallowedTools: ["!Bash"]`, most: every, least: ["read_file"] },
  "d-case": { keys: `${D}\nDisallowedTools: BASH, write`, most: without(...shell, "write_file"), least: ["read_file"] },
  "d-quote": {
    keys: `${D}\ndisallowedTools: "'Bash', \\"Write\\""`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-tick": {
    keys: `${D}\ndisallowedTools: "\`Bash\`, \`Write\`"`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-nested": {
    keys: `${D}\ndisallowedTools: [[Bash], [[Write]]]`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "d-tools-denied": { keys: `${D}\ntools: '*'\ndeny: [Bash]`, most: without(...shell), least: ["read_file"] },
  "d-tools-both": {
    keys: `${D}\ntools: Read, Bash, Task\ndisallowedTools: Bash, Task`,
    most: finds,
    least: ["read_file"],
  },
  "ro-1": { keys: `${D}\nread-only: True`, most: looks, least: ["read_file"] },
  "ro-2": { keys: `${D}\nreadOnly: 1`, most: looks, least: ["read_file"] },
  "ro-3": { keys: `${D}\nisReadOnly: 'yes'`, most: looks, least: ["read_file"] },
  "ro-4": { keys: `${D}\nmode: read-only`, most: looks, least: ["read_file"] },
  "ro-5": { keys: `${D}\naccess: read-only`, most: looks, least: ["read_file"] },
  "ro-6": { keys: `${D}\npermissions: read-only`, most: looks, least: ["read_file"] },
  "ro-7": { keys: `${D}\npermission: readonly`, most: looks, least: ["read_file"] },
  "ro-8": {
    keys: `${D}\nsandbox: read-only`,
    most: [...looks.filter((t) => !/http|web/.test(t)), ...shell],
    least: ["read_file"],
  },
  "ro-9": { keys: `${D}\nread_only_mode: on`, most: looks, least: ["read_file"] },
  "ro-10": { keys: `${D}\ntools: read-only`, most: looks, least: [] },
  "ro-11": { keys: `${D}\ntools: readonly`, most: looks, least: [] },
  "ro-12": { keys: `${D}\nreadonly:`, most: looks, least: [] },
  "ro-13": { keys: `${D}\npermissionMode: Plan`, most: looks, least: ["read_file"] },
  "ro-14": { keys: `${D}\npermission-mode: "read only"`, most: looks, least: ["read_file"] },
  "ro-15": { keys: `${D}\nreadonly: false`, most: every, least: every },
  "ro-16": { keys: `${D}\ncanWrite: false`, most: every, least: ["read_file"] },
  "mode-unknown": { keys: `${D}\npermissionMode: superuser`, most: looks, least: [] },
  "mode-list": { keys: `${D}\npermissionMode: [plan]`, most: looks, least: [] },
  "mode-null": { keys: `${D}\npermissionMode:`, most: every, least: [] },
  "perm-map": {
    keys: `${D}\npermission:\n  edit: deny\n  bash: deny`,
    most: without(...changes, ...shell),
    least: ["read_file"],
  },
  "perm-bool": {
    keys: `${D}\npermission:\n  edit: false\n  bash: false`,
    most: without(...changes, ...shell),
    least: ["read_file"],
  },
  "perm-word": {
    keys: `${D}\npermission:\n  edit: denied\n  bash: never`,
    most: without(...changes, ...shell),
    least: ["read_file"],
  },
  "perm-upper": {
    keys: `${D}\npermission:\n  edit: DENY\n  bash: Deny`,
    most: without(...changes, ...shell),
    least: ["read_file"],
  },
  "perm-nest": {
    keys: `${D}\npermission:\n  bash:\n    git:\n      push: deny\n  edit: deny`,
    most: without(...changes),
    least: ["read_file"],
  },
  "perm-lists": {
    keys: `${D}\npermissions:\n  allow: [Read, Grep]\n  deny: [Bash, Write]`,
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "perm-list": { keys: `${D}\npermissions: [read, grep]`, most: finds, least: [] },
  "perm-star": { keys: `${D}\npermission:\n  '*': deny\n  read: allow`, most: finds, least: ["read_file"] },
  "perm-mcp": {
    keys: `${D}\npermission:\n  'github_*': deny\n  my_server_run: deny`,
    most: without(...servers),
    least: ["read_file"],
  },
  "perm-task": {
    keys: `${D}\npermission:\n  task: deny\n  bash: { '*': deny }`,
    most: without(...shell),
    least: ["read_file"],
  },
  task: { keys: `${D}\ntools: Read, Task`, most: [...finds, "task"], least: ["read_file"] },
  "k-tool": { keys: `${D}\ntool: Read`, most: finds, least: [] },
  "k-zero": { keys: `${D}\ntools\u200b: Read`, most: finds, least: [] },
  "k-nbsp": { keys: `${D}\ntools:\u00a0Read, Grep`, most: finds, least: [] },
  "k-quoted": { keys: `${D}\n"tools": Read`, most: finds, least: ["read_file"] },
  "k-upper": { keys: `${D}\nTOOLS: Read`, most: finds, least: ["read_file"] },
  "k-space": { keys: `${D}\ntools : Read`, most: finds, least: ["read_file"] },
  "k-question": { keys: `${D}\n? tools\n: Read`, most: finds, least: ["read_file"] },
  tag: { keys: `${D}\ntools: !!seq [Read]`, most: finds, least: ["read_file"] },
  tag2: { keys: `${D}\ntools: !custom [Read]`, most: finds, least: [] },
  tag3: { keys: `${D}\ntools: !!set {Read, Grep}`, most: finds, least: [] },
  "unknown-only": { keys: `${D}\ntools: Frobnicate`, most: [], least: [] },
  wild: { keys: `${D}\ntools: Read*, mcp__github__get_*`, most: [...finds, "github__get_issue"], least: [] },
  mcpone: {
    keys: `${D}\ntools: Read, mcp__github__get_issue`,
    most: [...finds, "github__get_issue"],
    least: ["github__get_issue"],
  },
  "body-sep": { keys: `${D}\ntools: Read\n--- # end`, most: finds, least: [] },
  "num-items": { keys: `${D}\ntools: [Read, 7, true, null]`, most: finds, least: ["read_file"] },
  json: { keys: `"description": "Waters.",\n"tools": ["Read", "Grep"],`, most: finds, least: [] },
  json2: { keys: `{"description": "Waters.", "tools": ["Read", "Grep"]}`, most: looks, least: [] },
  "colon-swallow": {
    keys: `description: Waters: daily\n  disallowedTools: Bash\ncolor: red`,
    most: without(...shell),
    least: ["read_file"],
  },
  "unclosed-quote": {
    keys: `description: "Waters\ndisallowedTools: Bash\ncolor: red`,
    most: without(...shell),
    least: ["read_file"],
  },
  "unclosed-quote2": { keys: `description: 'Water's plants\nreadonly: true`, most: looks, least: ["read_file"] },
  "doc-end": { keys: `${D}\n...\ntools: Read`, most: finds, least: ["read_file"] },
  "nested-bullet": { keys: `${D}\ntools:\n- Read\n- Grep\n  - Bash`, most: finds, least: ["read_file"] },
  equals: { keys: `${D}\ntools = Read`, most: finds, least: [] },
  "no-space": { keys: `${D}\ntools:Read`, most: finds, least: [] },
  "equals-denied": { keys: `${D}\ndisallowedTools = Bash`, most: without(...shell), least: [] },
  "dup-case": { keys: `${D}\ntools: Read\nTools: Read, Bash`, most: finds, least: [] },
  "d-typo": { keys: `${D}\ndissallowedTools: Bash`, most: without(...shell), least: ["read_file"] },
  "d-typo2": { keys: `${D}\ndisalowed_tools: [Bash]`, most: without(...shell), least: ["read_file"] },
  "t-typo": { keys: `${D}\ntoosl: [Read]`, most: finds, least: ["read_file"] },
  "t-typo2": {
    keys: `${D}\nalowedTools: Read`,
    most: finds,
    least: ["read_file"],
    but: { kiro: { most: every } },
  },
  "t-typo-text": { keys: `${D}\ntoolz: hammer and saw`, most: every, least: every },
  "ro-typo": { keys: `${D}\nreadonyl: true`, most: looks, least: ["read_file"] },
  "mode-typo": { keys: `${D}\npermisionMode: plan`, most: looks, least: ["read_file"] },
};
