/** Notifications of an action: `instance.NAME.start`, `.end` and `.error`, with the names that Nova uses. */
export interface ActionNotifications {
  /** Sent without a phase when the action is accepted. */
  readonly accepted?: string;
  /**
   * Sent when the job starts and when it ends. If omitted, the job sends notifications of its steps, with `enter` and
   * `endStep`.
   */
  readonly around?: string;
  /** Sent with the phases start and end, if the request itself has completed all of the work. */
  readonly completed?: string;
  /** Sent when the job fails. */
  readonly failed?: string;
}

/** Notifications of an action: a string is short for `around`, `completed` and `failed` with that name; null: none. */
export type Notifies = string | ActionNotifications | null;

/** Returns an action's notifications in the long form. */
export function notificationsOf({ notifies }: { readonly notifies: Notifies }): ActionNotifications {
  if (typeof notifies !== 'string') return notifies ?? {};
  return { around: notifies, completed: notifies, failed: notifies };
}
