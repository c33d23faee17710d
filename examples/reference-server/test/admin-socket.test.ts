import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { admin, adminJson, start } from './operator.js';
import { sendRequest } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-admin-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => void vi.stubEnv('APISTRATA_SECRET_KEY', ''));
afterEach(() => void vi.unstubAllEnvs());
describe('the socket of admin commands', () => {
  it('is accessible only to the owner of the database, is recreated after a kill, and accepts only commands', async () => {
    const home = mkdtempSync(join(folder, 'socket-'));
    const db = join(home, 'cloud.db');
    const first = await start('--db', db);
    expect(statSync(`${db}-admin`).mode & 0o777).toBe(0o600);
    await first.end('SIGKILL');
    const second = await start('--db', db);
    const { connect } = await import('node:net');
    const sendLine = (line: string) =>
      new Promise<string>((resolve) => {
        let text = '';
        const socket = connect(`${db}-admin`, () => socket.write(line));
        socket.on('data', (chunk) => (text += chunk));
        socket.on('error', () => {});
        socket.on('close', () => resolve(text));
      });
    expect(await sendLine('nonsense\n')).toBe('');
    expect(await sendLine('x'.repeat(100_000))).toBe('');
    expect(await sendLine('{"command":"constructor","arguments":[],"own":{}}\n')).toContain(
      'does not support the command',
    );
    expect(await sendLine('{"command":"db restore","arguments":["x"],"own":{}}\n')).toContain(
      'does not support the command',
    );
    expect((await sendRequest(second.url, 'GET', '/healthcheck')).status).toBe(200);
    await second.printed(/"command":"constructor",.*"error":"the server does not.*"msg":"admin command failed"/);
    expect(second.output()).not.toContain('admin command executed');
    expect((await adminJson('quota', 'show', 'demo', '--db', db)).project).toBe('demo');
    await second.printed(/"command":"quota show","words":\["demo"\],"msg":"admin command executed"/);
    expect(await second.end('SIGTERM')).toBe(0);
    expect(existsSync(`${db}-admin`)).toBe(false);
  });

  it('is not created, with a log message, if its path is too long', async () => {
    const deep = join(folder, 'd'.repeat(100), 'e'.repeat(100));
    mkdirSync(deep, { recursive: true });
    const program = await start('--db', join(deep, 'cloud.db'));
    await program.printed(/too long for a socket/);
    const { code, output } = await admin('quota', 'show', 'demo', '--db', join(deep, 'cloud.db'));
    expect([code, output]).toEqual([1, expect.stringContaining('too long for a socket')]);
  });
});
