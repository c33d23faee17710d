import type { JournalQuery } from './journal.js';

/** Parses a journal query from a URL: `service=compute&status=4xx&text=web`; empty values are ignored. */
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
