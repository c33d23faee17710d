// How long a test waits for a cloud, from nothing to the first answer, and how much memory each of many clouds takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startCloud } from '@apistrata/test-cloud';

const RUNS = 50;
const CLOUDS = 100;
const MIB = 2 ** 20;

async function firstAnswer(cloud) {
  const response = await fetch(`${cloud.url}/compute/v2.1/flavors`, { headers: { 'X-Auth-Token': cloud.token() } });
  if (response.status !== 200) throw new Error(`the first answer was ${response.status}`);
  await response.arrayBuffer();
}

async function startUp() {
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now();
    const cloud = await startCloud();
    await firstAnswer(cloud);
    times.push(performance.now() - begun);
    await cloud.stop();
  }
  times.sort((a, b) => a - b);
  return { median: times[RUNS >> 1], max: times.at(-1) };
}

const PROGRAM = fileURLToPath(new URL('../packages/test-cloud/dist/command/main.js', import.meta.url));
const PROGRAM_RUNS = 11;

/** From nothing until the command prints where the cloud is, all modules loaded anew. */
async function programStart() {
  const times = [];
  for (let run = 0; run < PROGRAM_RUNS; run++) {
    const begun = performance.now();
    const program = spawn(process.execPath, [PROGRAM, '--port', '0', '--quiet'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(createInterface({ input: program.stdout }), 'line');
    times.push(performance.now() - begun);
    program.kill('SIGTERM');
    await once(program, 'exit');
  }
  return times.sort((a, b) => a - b)[PROGRAM_RUNS >> 1];
}

async function resets() {
  const cloud = await startCloud();
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now();
    await cloud.reset();
    times.push(performance.now() - begun);
  }
  await cloud.stop();
  return times.sort((a, b) => a - b)[RUNS >> 1];
}

async function manyAtOnce() {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const clouds = await Promise.all(Array.from({ length: CLOUDS }, () => startCloud()));
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

export async function run() {
  const memory = await manyAtOnce();
  const { median, max } = await startUp();
  const row = (what, ours, unit, budget) => ({ what, ours, baseline: '', ratio: '', unit, budget });
  return [
    row(`startCloud() to the first answer, median of ${RUNS}`, Math.round(median), 'ms', '<= 50'),
    row(
      `the command until it prints the environment, median of ${PROGRAM_RUNS}`,
      Math.round(await programStart()),
      'ms',
      '<= 300',
    ),
    row(`startCloud() to the first answer, longest of ${RUNS}`, Math.round(max), 'ms', '<= 300'),
    row('reset(), median', Math.round(await resets()), 'ms', ''),
    row(`${CLOUDS} clouds at once, memory of all`, Math.round(memory / MIB), 'MiB', '<= 300'),
    row(`${CLOUDS} clouds at once, memory of each`, Math.round((memory / MIB / CLOUDS) * 10) / 10, 'MiB', ''),
    row('the large preset: 500 hosts, 100,000 servers', Math.round(await large()), 'ms', '"a few seconds"'),
  ];
}
