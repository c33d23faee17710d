import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundledProgram } from '../../../testing/bundled-program.js';
import { Computer } from './bridge/computer.js';
import { missingForBridges } from './bridge/missing-for-bridges.js';

const missing = missingForBridges();
if (missing)
  console.warn(`\n*** SKIPPED: queues that are requested during a round: this machine has no ${missing} ***\n`);

const PROGRAM = join(import.meta.dirname, 'bridge/interrupted-round.mjs');
const PORT = '11111111-1111-4111-8111-111111111111';
const NETWORK = '22222222-2222-4222-8222-222222222222';

describe.skipIf(missing)('networks of a computer', () => {
  it('give a port the queues that a machine requests while a round without them is in progress', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aq-round-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const computer = await Computer.open();
    onTestFinished(() => computer.close());
    const programs = join(folder, 'programs');
    const pipe = join(folder, 'pipe');
    mkdirSync(programs);
    const ip = execFileSync('sh', ['-c', 'command -v ip'], { encoding: 'utf8' }).trim();
    const waiting = `#!/bin/sh\n[ -p ${pipe} ] && read -r _ < ${pipe}\nexec ${ip} "$@"\n`;
    writeFileSync(join(programs, 'ip'), waiting, { mode: 0o755 });
    const output = await computer.outputOf(
      'env',
      `PATH=${programs}:${process.env.PATH}`,
      process.execPath,
      await bundledProgram(PROGRAM, () => import('../src/network/bridge-mode.js')),
      ...[join(folder, 'host'), pipe, ip, PORT, NETWORK],
    );
    expect(JSON.parse(output)).toEqual({ name: expect.stringMatching(/^aqt/), severalQueues: true });
  }, 60_000);
});
