import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** Starts a worker that reports when it is about to run `script`, and ends it with the test. */
export async function startWorker(script: string, name?: string): Promise<Worker> {
  const source = `require('node:worker_threads').parentPort.postMessage('up');\n${script}`;
  const worker = new Worker(source, { eval: true, name });
  onTestFinished(() => void worker.terminate());
  await new Promise((resolve) => worker.once('message', resolve));
  return worker;
}

/** A worker that is blocked in a function `spinForEver`. */
export const BLOCKED = 'function spinForEver() { while (true); }\nspinForEver();';
