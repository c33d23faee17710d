/**
 * Names of the notifications that an action sends. The name `NAME` stands for Nova's `instance.NAME.start`,
 * `instance.NAME.end` and `instance.NAME.error`.
 */
export interface ActionNotifications {
  /** Name of the notification that is sent, without a phase, when the action is accepted. */
  readonly accepted?: string;
  /**
   * Name of the notifications that are sent when the job starts and when it ends. If omitted, the job itself sends
   * notifications for its steps, with `enter` and `endStep`.
   */
  readonly startAndEnd?: string;
  /** Name of the start and end notifications that are sent if the request itself has completed the entire action. */
  readonly completed?: string;
  /** Name of the notification that is sent when the job fails. */
  readonly failed?: string;
}

/**
 * An action's notifications. A string is shorthand for an object in which `startAndEnd`, `completed` and `failed` have
 * that value. Null means that the action sends no notifications.
 */
export type Notifies = string | ActionNotifications | null;

/** Returns an action's notifications as an object, even if the action defines them as a string or null. */
export function notificationsOf({ notifies }: { readonly notifies: Notifies }): ActionNotifications {
  if (typeof notifies !== 'string') return notifies ?? {};
  return { startAndEnd: notifies, completed: notifies, failed: notifies };
}
