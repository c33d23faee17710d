/** A versioned object in a notification: its type, version and fields. */
export interface NotificationObject {
  readonly 'nova_object.name': string;
  readonly 'nova_object.namespace': 'nova';
  readonly 'nova_object.version': string;
  readonly 'nova_object.data': Readonly<Record<string, unknown>>;
}

/** An event, in the format of Nova's versioned notifications. */
export interface Notification {
  /** An id that is unique for this event, so that receivers can detect duplicates. */
  readonly message_id: string;
  readonly publisher_id: string;
  /** The type of the event, such as `instance.create.end`, `instance.update` or `quota.exceeded`. */
  readonly event_type: string;
  readonly priority: 'INFO' | 'ERROR';
  /** The time in UTC, formatted as `2026-01-31 12:00:00.000000`. */
  readonly timestamp: string;
  readonly payload: NotificationObject;
}

/** Creates a versioned object for a notification payload. */
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

/** Formats a time as `2026-01-31 12:00:00.000000`. */
export function formatEnvelopeTime(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '000');
}
