import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, startProgram } from './program.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

async function get(program: Program, path: string, accept: string) {
  const response = await fetch(program.url + path, { headers: { accept } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the documents of the reference server', () => {
  let documented: Program;
  let bare: Program;
  beforeAll(async () => {
    documented = await startProgram(['--db', ':memory:', '--log-level', 'silent', '--max-version', '2.104']);
    bare = await startProgram(['--db', ':memory:', '--log-level', 'silent', '--max-version', 'latest', '--no-docs']);
  }, 60_000);
  afterAll(async () => {
    await documented?.end('SIGTERM');
    await bare?.end('SIGTERM');
  });

  it('are on /docs, with descriptions, history, commands and working tokens', async () => {
    const page = await get(documented, '/docs/operations/showServer?version=2.53', BROWSER);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Shows a server with details');
    expect(page.text).toContain('openstack --os-compute-api-version');
    expect(page.text).toContain('ada:demo');
    const version = await get(documented, '/docs/versions/2.26', BROWSER);
    expect(version.text).toContain('Adds server tags');
    expect((await get(documented, '/docs/openapi.json?version=2.104', '*/*')).status).toBe(200);
    const withoutPreference = await get(documented, '/openapi.json', '*/*');
    expect(JSON.parse(withoutPreference.text).info.version).toBe('2.104');
  });

  it.each(['/', '/v2.1/'])('redirect browsers from %s to /docs', async (path) => {
    const page = await get(documented, path, BROWSER);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.text).toContain(`href="${documented.url}/docs"`);
  });

  it.each(['/', '/v2.1/', '/v2.1'])('do not affect %s for clients of the API', async (path) => {
    for (const accept of ['*/*', 'application/json']) {
      const [one, other] = await Promise.all([get(documented, path, accept), get(bare, path, accept)]);
      const seen = ({ status, headers, text }: typeof one, { url }: Program) => ({
        status,
        text: text.replaceAll(url, ''),
        headers: [...headers].filter(([name]) => !/^(?:date|x-.*request-id|content-length)$/.test(name)),
      });
      expect(seen(one, documented)).toEqual(seen(other, bare));
    }
  });

  it('are disabled by --no-docs', async () => {
    expect((await get(bare, '/docs', BROWSER)).text).toContain('choices');
    expect((await get(bare, '/', BROWSER)).text).not.toContain('/docs');
  });
});
