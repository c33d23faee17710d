import type { JournalQuery } from './journal.js';

/** A journal query as a URL says it: `service=compute&status=4xx&text=web`; what is empty says nothing. */
export function journalQuery(query: Readonly<Record<string, unknown>>): JournalQuery {
  const text = (name: string) => (typeof query[name] === 'string' && query[name] !== '' ? query[name] : undefined);
  const status = text('status');
  const after = text('after');
  return {
    service: text('service'),
    method: text('method'),
    url: text('url'),
    text: text('text'),
    status: status === undefined || /^[1-5]xx$/.test(status) ? (status as JournalQuery['status']) : Number(status),
    after: after === undefined ? undefined : Number(after),
  };
}
