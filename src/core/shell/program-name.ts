/** The name of a program without its folder. */
export function programName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
