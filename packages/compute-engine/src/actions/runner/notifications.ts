/** Notifications about an action: `instance.NAME.start`, `.end` and `.error`, under the names that the original gives them. */
export interface ActionNotifications {
  /** Sent without a phase when the action is accepted. */
  readonly accepted?: string;
  /** Sent when the work begins and when it ends. Left out: the work announces its steps itself, with `enter` and `leave`. */
  readonly around?: string;
  /** Sent as begun and ended when the request itself has completed all of the work. */
  readonly completed?: string;
  /** Sent when the work fails. */
  readonly failed?: string;
}

/** What an action announces: a name stands for `around`, `completed` and `failed` of that name; null: nothing. */
export type Notifies = string | ActionNotifications | null;

/** The notifications about an action, spelt out. */
export function notificationsOf({ notifies }: { readonly notifies: Notifies }): ActionNotifications {
  if (typeof notifies !== 'string') return notifies ?? {};
  return { around: notifies, completed: notifies, failed: notifies };
}
