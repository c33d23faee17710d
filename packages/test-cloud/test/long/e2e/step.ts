/** One action of a user, and the check that it has succeeded. */
export interface Step {
  readonly title: string;
  /** A command of `openstack` or `nova`, or `cloud restart HOST` for an event without a command. */
  readonly run: string;
  /** The role that performs the action; default: a member. */
  readonly as?: 'admin';
  readonly since?: string;
  readonly until?: string;
  /** A command whose JSON (or text, for a pattern) must contain `expects`; default: the command itself. */
  readonly check?: string;
  readonly expects?: unknown;
}

/** The command that shows the server of the workflow. */
export const SHOW = 'openstack server show day';
/** Returns the check of a step after which the server has this status. */
export const status = (value: string) => ({ check: SHOW, expects: { status: value } });
