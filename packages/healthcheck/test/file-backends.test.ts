import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { HealthcheckOptions } from '../src/index.js';
import { HOSTS, serve } from './serve.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-backends-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const there = join(folder, 'there');
writeFileSync(there, '');

describe('the file backends', () => {
  it('read the files again at each request', async () => {
    const path = join(folder, 'comes-and-goes');
    const { request } = await serve(
      HOSTS['node:http']!({ backends: 'disable_by_file', disableByFilePath: path, log: false }),
    );
    const statuses: number[] = [];
    for (const step of [() => undefined, () => writeFileSync(path, ''), () => rmSync(path)]) {
      step();
      statuses.push((await request('/healthcheck')).status);
    }
    expect(statuses).toEqual([200, 503, 200]);
  });

  it('use the port of the connection, not the port of the Host header', async () => {
    let listener: ReturnType<(typeof HOSTS)[string]> | undefined;
    const { request, port } = await serve((req, res) => listener!(req, res));
    const options: HealthcheckOptions = { backends: 'disable_by_files_ports', disableByFilePaths: `${port}:${there}` };
    listener = HOSTS['node:http']!({ ...options, log: false });
    expect((await request('/healthcheck', { headers: { host: 'example.org:1' } })).status).toBe(503);
  });

  it('keep additional colons of an entry in its path', async () => {
    const path = join(folder, 'a:b');
    writeFileSync(path, '');
    let listener: ReturnType<(typeof HOSTS)[string]> | undefined;
    const { request, port } = await serve((req, res) => listener!(req, res));
    const options: HealthcheckOptions = { backends: 'disable_by_files_ports', disableByFilePaths: `${port}:${path}` };
    listener = HOSTS['node:http']!({ ...options, log: false });
    expect((await request('/healthcheck')).status).toBe(503);
  });
});
