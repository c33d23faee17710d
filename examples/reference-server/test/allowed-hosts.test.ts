import { afterEach, describe, expect, it } from 'vitest';
import { requestByHost } from '../../../testing/request-by-host.js';
import { type Program, runProgram, startProgram } from './program.js';

const PATHS = ['/', '/v2.1/flavors', '/docs', '/openapi.json', '/healthcheck', '/metrics'];
const PUBLIC = 'compute.example.org';

describe('the Host header of requests to the reference server', () => {
  let program: Program | undefined;
  afterEach(async () => {
    await program?.end('SIGTERM');
    program = undefined;
  });

  async function statuses(args: readonly string[]): Promise<number[]> {
    const started = await startProgram(['--db', ':memory:', '--log-level', 'silent', '--metrics', ...args]);
    program = started;
    const headers = { 'x-auth-token': 'ada:demo' };
    return Promise.all(
      PATHS.map(async (path) => (await requestByHost(`${started.url}${path}`, PUBLIC, headers)).status),
    );
  }

  it('must be that of this computer if callers are not authenticated', async () => {
    expect(new Set(await statuses([]))).toEqual(new Set([421]));
    expect(
      (await requestByHost(`${program?.url}/v2.1/flavors`, 'localhost', { 'x-auth-token': 'ada:demo' })).status,
    ).toBe(200);
  });

  it('is not replaced by a forwarded header, which pages of other sites can also send', async () => {
    await statuses(['--trust-proxy', 'loopback']);
    const forwarded = { 'x-auth-token': 'ada:demo', 'x-forwarded-host': 'localhost' };
    expect((await requestByHost(`${program?.url}/v2.1/flavors`, PUBLIC, forwarded)).status).toBe(421);
  });

  it('may be the name of a proxy, which links then contain', async () => {
    expect(await statuses(['--trust-proxy', 'loopback', '--allowed-host', PUBLIC])).not.toContain(421);
    const forwarded = { 'x-auth-token': 'ada:demo', 'x-forwarded-host': PUBLIC, 'x-forwarded-proto': 'https' };
    const { body } = await requestByHost(`${program?.url}/v2.1/flavors`, PUBLIC, forwarded);
    expect(body).toContain(`https://${PUBLIC}/v2.1/flavors/`);
  });

  it('may be any name if the server listens on all addresses', async () => {
    expect(await statuses(['--host', '0.0.0.0', '--insecure'])).not.toContain(421);
  });

  it('must be given without a port in --allowed-host', async () => {
    const { code, output } = await runProgram(['--check-config', '--allowed-host', `${PUBLIC}:443`]);
    expect(code).toBe(1);
    expect(output).toContain(`--allowed-host: "${PUBLIC}:443" must be a host name or an address`);
  });
});
