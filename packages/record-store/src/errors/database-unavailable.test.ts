import { expect, it } from 'vitest';
import { DatabaseUnavailable, databaseError } from './database-unavailable.js';

const coded = (code: string, message = '') => Object.assign(new Error(message), { code });
const numbered = (errcode: number) => Object.assign(coded('ERR_SQLITE_ERROR'), { errcode });

it.each([
  ['busy', coded('SQLITE_BUSY_SNAPSHOT')],
  ['busy', numbered(5)],
  ['full', coded('SQLITE_FULL')],
  ['full', numbered(13)],
  ['read-only', coded('SQLITE_READONLY_ROLLBACK')],
  ['replaced', numbered(1032)],
  ['failed', numbered(10 + 256)],
  ['unreachable', coded('08006')],
  ['unreachable', coded('57P01')],
  ['timeout', coded('57014')],
  ['busy', coded('55P03')],
  ['busy', coded('53300')],
  ['full', coded('53100')],
  ['read-only', coded('25006')],
  ['failed', coded('58030')],
  ['unreachable', coded('ECONNREFUSED')],
  ['unreachable', Object.assign(new Error(), { errors: [coded('ECONNREFUSED'), coded('EHOSTUNREACH')] })],
  ['unreachable', new Error('Connection terminated unexpectedly')],
  ['busy', new Error('timeout exceeded when trying to connect')],
])('recognizes an outage: %s', (failure, error) => {
  const converted = databaseError(error);
  expect(converted).toBeInstanceOf(DatabaseUnavailable);
  expect(converted).toMatchObject({ failure, status: 503, cause: error });
});

it.each([
  coded('23505', 'duplicate key'),
  coded('42P01', 'no such relation'),
  coded('40001', 'serialization failure'),
  coded('SQLITE_CONSTRAINT_UNIQUE'),
  numbered(19),
  new TypeError('undefined is not a function'),
  undefined,
])('returns other errors unchanged', (error) => {
  expect(databaseError(error)).toBe(error);
});

it('does not reveal statements, files or addresses to callers', () => {
  const { message } = databaseError(coded('58030', 'could not write /var/lib/pg/base: insert into servers')) as Error;
  expect(message).toBe('The database failed.');
});
