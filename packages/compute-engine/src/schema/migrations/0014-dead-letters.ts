import { createDocumentTable, type Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/**
 * Creates the table of events that a webhook did not accept in any attempt. `due` is 1 while an administrator's request
 * to send the event again is pending.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await createDocumentTable(db, 'notification_failures', {
    columns: {
      webhook: 'text',
      event_id: 'text',
      event_type: 'text',
      server_id: 'text',
      reason: 'text',
      attempts: 'integer',
      failed_at: 'bigint',
      due: 'integer',
    },
    indexes: [['webhook', 'due'], ['failed_at']],
  });
}
