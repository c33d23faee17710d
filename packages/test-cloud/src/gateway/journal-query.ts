import { badRequest } from '../service/service-error.js';
import type { JournalQuery } from './journal.js';

/**
 * Parses a query string as a journal query: `service=compute&status=4xx&text=web`. Ignores empty values.
 * @throws ServiceError with status 400 if `status` or `after` is invalid
 */
export function parseJournalQuery(query: Readonly<Record<string, unknown>>): JournalQuery {
  const queryText = (name: string) => (typeof query[name] === 'string' && query[name] !== '' ? query[name] : undefined);
  const parseNumber = (name: string, value: string, expected: string) => {
    if (/^\d+$/.test(value)) return Number(value);
    throw badRequest(`\`${name}\` must be ${expected}, not '${value}'`);
  };
  const status = queryText('status');
  const after = queryText('after');
  return {
    service: queryText('service'),
    method: queryText('method'),
    url: queryText('url'),
    text: queryText('text'),
    status:
      status === undefined || /^[1-5]xx$/.test(status)
        ? (status as JournalQuery['status'])
        : parseNumber('status', status, 'an HTTP status code or a class such as 4xx'),
    after: after === undefined ? undefined : parseNumber('after', after, 'a non-negative integer'),
  };
}
