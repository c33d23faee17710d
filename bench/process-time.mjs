import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Of one process, from /proc: its parent, and the processor time of its children that have ended. */
function stat(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), endedMs: (Number(fields[13]) + Number(fields[14])) * TICK_MS };
}

/** Of one thread, to the nanosecond: what the kernel tells of a process as a whole it tells in ticks. */
const threadMs = (pid, thread) =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

const ownMs = (pid) => readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, thread), 0);

/** Processor time that the first thread of a process has taken so far, in milliseconds. Linux only. */
export const mainThreadTime = (pid) => threadMs(pid, pid);

/** Processor time that a process and its children have taken so far, in milliseconds. Linux only. */
export function processTime(root) {
  let sum = 0;
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    try {
      const { parent, endedMs } = stat(pid);
      if (pid === root || parent === root) sum += endedMs + ownMs(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}
