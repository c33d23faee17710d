import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestByHost } from '../../../../testing/request-by-host.js';
import { type AllowedHostsOptions, allowedHosts } from '../../src/http/allowed-hosts.js';

describe('allowedHosts()', () => {
  let check = allowedHosts({ host: '127.0.0.1' });
  const server = createServer((req, res) => check(req, res, () => res.end('served')));
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => server.close());

  const send = (host: string) => requestByHost(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, host);

  it.each<[string, AllowedHostsOptions, number]>([
    ['localhost', { host: '127.0.0.1' }, 200],
    ['LOCALHOST:8774', { host: '127.0.0.1' }, 200],
    ['127.0.0.1:8774', { host: 'localhost' }, 200],
    ['[::1]:8774', { host: '::1' }, 200],
    ['127.0.0.2:80', { host: '127.0.0.2' }, 200],
    ['compute.example.org', { host: '127.0.0.1', allowed: ['Compute.example.org'] }, 200],
    ['evil.example', { host: '127.0.0.1' }, 421],
    ['evil.example:8774', { host: '::1' }, 421],
    ['evil.example', { host: '::ffff:127.0.0.1' }, 421],
    ['localhost.evil.example', { host: 'localhost' }, 421],
    ['evil.example@localhost', { host: 'localhost' }, 421],
    ['evil.example', { host: '0.0.0.0' }, 200],
    ['evil.example', { host: '0.0.0.0', allowed: ['compute.example.org'] }, 421],
  ])('returns for the header "%s" with %j the status %i', async (host, options, status) => {
    check = allowedHosts(options);
    expect((await send(host)).status).toBe(status);
  });

  it('returns JSON that contains the host and the fix', async () => {
    check = allowedHosts({ host: '127.0.0.1' });
    expect(JSON.parse((await send('evil.example')).body)).toEqual({
      error: { code: 421, title: 'Misdirected Request', message: expect.stringMatching(/"evil\.example".*allow/) },
    });
  });

  it.each(['http://compute.example.org', 'compute.example.org:8774', 'a/b', ''])('rejects "%s" as a name', (name) => {
    expect(() => allowedHosts({ host: '127.0.0.1', allowed: [name] })).toThrow(
      `"${name}" must be a host name or an address, without a scheme, port or path`,
    );
  });
});
