import { randomUUID } from 'node:crypto';
import { requestIdOf } from '@apistrata/request-id';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { formatMicros } from '../service/times.js';
import { links, RESOURCE_FILTERS } from './volume-style.js';

/** The time after which user messages expire. */
const RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * For each failure of an accepted request: the id and text of the action, and the id and text of the cause, as in
 * Cinder.
 */
const FAILURE_TEXTS = {
  noBackend: ['001', 'schedule allocate volume', '003', 'Could not find any available weighted backend.'],
} as const;

const tableOf = ({ cloud }: Call) => cloud.documents.table<Doc>('volume/messages');

/** Stores a user message about the failure of a volume. */
export function reportFailure(call: Call, failure: keyof typeof FAILURE_TEXTS, volumeId: string): void {
  const [action, actionText, detail, detailText] = FAILURE_TEXTS[failure];
  const now = call.cloud.clock.now();
  const id = randomUUID();
  tableOf(call).set(id, {
    id,
    event_id: `VOLUME_VOLUME_${action}_${detail}`,
    user_message: `${actionText}:${detailText}`,
    message_level: 'ERROR',
    created_at: formatMicros(now),
    guaranteed_until: formatMicros(now + RETENTION_MS),
    request_id: requestIdOf(call.req)?.local,
    resource_type: 'VOLUME',
    resource_uuid: volumeId,
    project_id: call.caller.projectId,
  });
}

/** The resource for user messages about asynchronous failures, which expire after 30 days. */
export const messages: ResourceSpec = {
  path: 'messages',
  one: 'message',
  many: 'messages',
  verbs: ['list', 'show', 'remove'],
  filters: RESOURCE_FILTERS.message,
  statuses: { remove: 204 },
  seed(call, table) {
    const now = formatMicros(call.cloud.clock.now());
    for (const [id, { guaranteed_until }] of table) if (String(guaranteed_until) <= now) table.delete(id);
  },
  fields: () => ({
    id: derived(),
    event_id: derived(),
    user_message: derived(),
    message_level: derived(),
    created_at: derived(),
    guaranteed_until: derived(),
    request_id: derived(),
    resource_type: derived(),
    resource_uuid: derived(),
    project_id: derived(undefined, { hidden: true }),
  }),
  lists: (call, { project_id }) => project_id === call.caller.projectId,
  shows: (call, { id }) => ({ links: links(call, `messages/${id}`) }),
};
