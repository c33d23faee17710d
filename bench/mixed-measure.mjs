import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTime } from './process-time.mjs';
import { watchWaits } from './waits.mjs';

/** The part of a load in which its rate still rises, because sessions follow their first requests. */
const RAMP = 0.25;

/** Returns a quantile of sorted numbers: the value below which the given fraction of them lies. */
export const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

/** Starts the load generator. */
export function startGenerator() {
  const child = fork(join(import.meta.dirname, 'mixed-load.worker.mjs'));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the load generator ended with ${code}`);
  });
  ended.catch(() => {});
  return {
    pid: child.pid,
    send: async (load) => {
      child.send(load);
      const [result] = await Promise.race([once(child, 'message'), ended]);
      return result;
    },
    stop: () => child.disconnect(),
  };
}

/** Returns the total and the idle ticks of all processors since the computer booted. Linux only. */
function machineTicks() {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, each) => sum + each, 0), idle: ticks[3] + ticks[4] };
}

/**
 * Sends a load to a cloud.
 *
 * @returns the sorted latencies in milliseconds, of each operation and of all operations; the failed sessions with
 *   their errors; and, from the end of the ramp until the last session starts: the CPU time of each process in percent
 *   of one processor; the idle part of all processors in percent; what the API waits for; the resident memory of the
 *   API in bytes
 */
export async function measureLoad(cloud, generator, load) {
  const usage = () => ({
    ...cloud.usage(),
    generatorMs: processTime(generator.pid),
    ticks: machineTicks(),
    at: performance.now(),
  });
  const watch = async () => {
    await sleep(load.seconds * 1000 * RAMP);
    const endWatch = await watchWaits(cloud.processes(), cloud.databaseUrl);
    const before = usage();
    await sleep(load.seconds * 1000 * (1 - RAMP));
    return { before, after: usage(), waits: await endWatch() };
  };
  const sent = generator.send({ ...cloud.load, ...load });
  const [{ latencies, errors, failed }, { before, after, waits }] = await Promise.all([sent, watch()]);
  const percent = (name) => ((after[name] - before[name]) / (after.at - before.at)) * 100;
  return {
    latencies,
    all: latencies.flatMap(([, times]) => times).sort((a, b) => a - b),
    errors: errors.map(([text, times]) => `${text} (${times} times)`),
    failed,
    cpu: {
      API: percent('apiMs'),
      ...(cloud.databaseUrl && { database: percent('databaseMs') }),
      'load generator': percent('generatorMs'),
    },
    waits,
    idle: ((after.ticks.idle - before.ticks.idle) / (after.ticks.all - before.ticks.all)) * 100,
    memory: after.memory,
  };
}
