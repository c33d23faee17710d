import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../../../../testing/servers.js';
import { type Program, startProgram } from '../program.js';
import { IMAGE_FILE, REMAINING_OUTPUT, workflowCommands } from './workflow-commands.js';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'apistrata-workflow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const installed = findProgram('openstack');
if (!installed)
  console.warn('\n*** SKIPPED: the workflow of a whole cloud: this machine has no openstack command ***\n');

/** An image file with the name that the page uses. Its content starts like a qcow2 file. */
const IMAGE = Buffer.concat([Buffer.from('QFI\xfb\0\0\0\x03', 'latin1'), Buffer.alloc(300_000, 7)]);

describe.skipIf(!installed)('a complete workflow on a new cloud', () => {
  const database = join(folder, 'cloud.db');
  let program: Program;
  const start = () => startProgram(['--cloud', '--db', database, '--log-level', 'error', '--latency-ms', '20']);
  beforeAll(async () => {
    program = await start();
  });
  afterAll(async () => {
    await program?.end('SIGTERM');
  });

  const environment = () => ({
    ...process.env,
    OS_CLIENT_CONFIG_FILE: join(folder, 'clouds.yaml'),
    OS_CLOUD: 'apistrata',
  });

  async function openstack(command: string): Promise<string> {
    const { stdout } = await run('openstack', command.split(' '), { env: environment() });
    return stdout;
  }

  it('needs only the commands of the client', { timeout: 600_000 }, async () => {
    writeFileSync(join(folder, IMAGE_FILE), IMAGE);
    await run('bash', ['-euo', 'pipefail', '-c', workflowCommands()], { cwd: folder, env: environment() });
    expect(readFileSync(join(folder, 'copy.qcow2')).equals(IMAGE)).toBe(true);

    const { url } = program;
    expect(await program.end('SIGKILL')).toBeNull();
    program = await start();
    const settings = join(folder, 'clouds.yaml');
    writeFileSync(settings, readFileSync(settings, 'utf8').replace(url, program.url));
    for (const [command, prints] of REMAINING_OUTPUT) expect(await openstack(command), command).toMatch(prints);
    expect(program.output()).not.toContain('"level":50');
  });
});
