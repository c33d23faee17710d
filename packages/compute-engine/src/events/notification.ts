/** Part of a notification: its kind, in which version, and its fields. */
export interface NotificationObject {
  readonly 'nova_object.name': string;
  readonly 'nova_object.namespace': 'nova';
  readonly 'nova_object.version': string;
  readonly 'nova_object.data': Readonly<Record<string, unknown>>;
}

/** What has happened, in the form of the versioned notifications of the original. */
export interface Notification {
  /** Of this event alone: whoever gets it twice knows by that. */
  readonly message_id: string;
  readonly publisher_id: string;
  /** `instance.create.end`, `instance.update`, `quota.refused`. */
  readonly event_type: string;
  readonly priority: 'INFO' | 'ERROR';
  /** UTC, as `2026-01-31 12:00:00.000000`. */
  readonly timestamp: string;
  readonly payload: NotificationObject;
}

/** One object of a payload. */
export function notificationObject(
  name: string,
  version: string,
  data: Readonly<Record<string, unknown>>,
): NotificationObject {
  return {
    'nova_object.name': name,
    'nova_object.namespace': 'nova',
    'nova_object.version': version,
    'nova_object.data': data,
  };
}

/** `2026-01-31 12:00:00.000000`. */
export function envelopeTime(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '000');
}
