import { expect, it } from 'vitest';
import { checkListening, warnIfUnauthenticated } from './check-listening.js';

const LOCAL = { host: '127.0.0.1', auth: 'noauth', cloud: false, insecure: false } as const;

/** Returns the warnings that are printed at startup. */
function warnings(given: Partial<Parameters<typeof checkListening>[0]>): readonly unknown[] {
  const options = { ...LOCAL, ...given };
  const warned: unknown[] = [];
  checkListening(options);
  warnIfUnauthenticated(options, { warn: (line: unknown) => warned.push(line) });
  return warned;
}

it.each(['0.0.0.0', '::', '192.0.2.1', 'cloud.example.org'])('rejects --host %s without authentication', (host) => {
  expect(() => warnings({ host })).toThrow(`--host ${host} needs --cloud, --auth tokens or --auth identity`);
});

it('accepts addresses of the network without authentication with --insecure, and warns', () => {
  expect(warnings({ host: '0.0.0.0', insecure: true })).toEqual([
    'clients are not authenticated: every client that reaches 0.0.0.0 is an administrator',
  ]);
});

it.each([
  {},
  { host: '127.0.0.2' },
  { host: '::1' },
  { host: '0.0.0.0', cloud: true },
  { host: '0.0.0.0', auth: 'tokens' as const },
])('accepts %j, which other computers cannot use without a token', (options) => {
  expect(warnings(options)).toEqual([]);
});
