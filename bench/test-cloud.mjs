// The time until the first response of a new cloud.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startCloud } from '@apistrata/test-cloud';
import { installProgram } from './installed-program.mjs';
import { interleaved } from './samples.mjs';

const FULL = { runs: 30, programRuns: 9 };
const QUICK = { runs: 3, programRuns: 2 };

async function firstResponse(cloud) {
  const response = await fetch(`${cloud.url}/compute/v2.1/flavors`, { headers: { 'X-Auth-Token': cloud.token() } });
  if (response.status !== 200) throw new Error(`the first response was ${response.status}`);
  await response.arrayBuffer();
}

async function measureStart() {
  const begun = performance.now();
  const cloud = await startCloud();
  await firstResponse(cloud);
  const elapsed = performance.now() - begun;
  await cloud.stop();
  return elapsed;
}

/** Returns the time until the command prints the address of the cloud, with all modules loaded from scratch. */
async function programStart(main) {
  const begun = performance.now();
  const program = spawn(process.execPath, [main, '--port', '0', '--quiet'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(createInterface({ input: program.stdout }), 'line');
  const elapsed = performance.now() - begun;
  program.kill('SIGTERM');
  await once(program, 'exit');
  return elapsed;
}

async function measureResets(runs) {
  const cloud = await startCloud();
  const [times] = await interleaved(runs, async () => {
    const begun = performance.now();
    await cloud.reset();
    return performance.now() - begun;
  });
  await cloud.stop();
  return times;
}

async function measureLargeCloud() {
  const begun = performance.now();
  const cloud = await startCloud({ preset: 'large' });
  await firstResponse(cloud);
  const elapsed = performance.now() - begun;
  await cloud.stop();
  return elapsed;
}

export async function run({ quick }) {
  const { runs, programRuns } = quick ? QUICK : FULL;
  const [starts] = await interleaved(runs, measureStart);
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-command-'));
  const main = installProgram('test-cloud', folder);
  const [programs] = await interleaved(programRuns, () => programStart(main));
  rmSync(folder, { recursive: true, force: true });
  const row = (what, ours, unit, budget, reason) => ({ what, ours, unit, budget, reason });
  const rows = [
    row('startCloud() to the first response', starts, 'ms', '<= 50, at most 300'),
    row('the command until it prints the environment', programs, 'ms', '<= 300', 'half of the time is the import'),
    row('reset()', await measureResets(runs), 'ms', ''),
  ];
  if (!quick) {
    const elapsed = await measureLargeCloud();
    const what = 'the large preset: 500 hosts, 100,000 servers';
    rows.push(row(what, elapsed, 'ms', '<= 5000', 'one thread writes the records of all servers'));
  }
  return rows;
}
