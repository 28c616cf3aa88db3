// @ts-check
/** The file that a command of the build creates when its run can be paused. */
export const PAUSE_FILE = "begun.txt";
