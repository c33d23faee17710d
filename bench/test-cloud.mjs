// How long a test waits for a cloud, from nothing to the first answer, and how much memory each of many clouds takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startCloud } from '@apistrata/test-cloud';
import { inTurns } from './samples.mjs';

const FULL = { runs: 30, programRuns: 9, clouds: 100 };
const QUICK = { runs: 3, programRuns: 2, clouds: 5 };
const MIB = 2 ** 20;

async function firstAnswer(cloud) {
  const response = await fetch(`${cloud.url}/compute/v2.1/flavors`, { headers: { 'X-Auth-Token': cloud.token() } });
  if (response.status !== 200) throw new Error(`the first answer was ${response.status}`);
  await response.arrayBuffer();
}

async function startUp() {
  const begun = performance.now();
  const cloud = await startCloud();
  await firstAnswer(cloud);
  const taken = performance.now() - begun;
  await cloud.stop();
  return taken;
}

const PROGRAM = fileURLToPath(new URL('../packages/test-cloud/dist/command/main.js', import.meta.url));

/** From nothing until the command prints where the cloud is, all modules loaded anew. */
async function programStart() {
  const begun = performance.now();
  const program = spawn(process.execPath, [PROGRAM, '--port', '0', '--quiet'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(createInterface({ input: program.stdout }), 'line');
  const taken = performance.now() - begun;
  program.kill('SIGTERM');
  await once(program, 'exit');
  return taken;
}

async function resets(runs) {
  const cloud = await startCloud();
  const [times] = await inTurns(runs, async () => {
    const begun = performance.now();
    await cloud.reset();
    return performance.now() - begun;
  });
  await cloud.stop();
  return times;
}

async function manyAtOnce(amount) {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const clouds = await Promise.all(Array.from({ length: amount }, () => startCloud()));
  await Promise.all(clouds.map(firstAnswer));
  globalThis.gc?.();
  const taken = process.memoryUsage.rss() - before;
  await Promise.all(clouds.map((cloud) => cloud.stop()));
  return taken;
}

async function large() {
  const begun = performance.now();
  const cloud = await startCloud({ preset: 'large' });
  await firstAnswer(cloud);
  const taken = performance.now() - begun;
  await cloud.stop();
  return taken;
}

export async function run({ quick }) {
  const { runs, programRuns, clouds } = quick ? QUICK : FULL;
  // First: what a process has kept before is not theirs.
  const memory = (await manyAtOnce(clouds)) / MIB;
  const [starts] = await inTurns(runs, startUp);
  const [programs] = await inTurns(programRuns, programStart);
  const row = (what, ours, unit, budget) => ({ what, ours, unit, budget });
  const rows = [
    row('startCloud() to the first answer', starts, 'ms', '<= 50, at the most 300'),
    row('the command until it prints the environment', programs, 'ms', '<= 300'),
    row('reset()', await resets(runs), 'ms', ''),
    row(`${clouds} clouds at once, memory of all`, memory, 'MiB', quick ? '' : '<= 300'),
    row(`${clouds} clouds at once, memory of each`, memory / clouds, 'MiB', ''),
  ];
  if (!quick) rows.push(row('the large preset: 500 hosts, 100,000 servers', await large(), 'ms', '"a few seconds"'));
  return rows;
}
