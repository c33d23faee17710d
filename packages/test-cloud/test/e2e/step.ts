/** One thing a user does, and how they see that it was done. */
export interface Step {
  readonly does: string;
  /** A command of `openstack` or `nova`, or `cloud restart HOST` for what happens without anybody's command. */
  readonly run: string;
  /** Left out where a member does it. */
  readonly as?: 'admin';
  readonly since?: string;
  readonly until?: string;
  /** A command whose JSON (or text, for a pattern) must contain `gives`; default: the command itself. */
  readonly check?: string;
  readonly gives?: unknown;
}

/** What looks at the server of the day. */
export const SHOW = 'openstack server show day';
/** The check of a step after which the server has this status. */
export const status = (value: string) => ({ check: SHOW, gives: { status: value } });
