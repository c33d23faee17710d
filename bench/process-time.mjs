import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Returns the id of a process's parent, and the CPU time of the process's children that have ended, from /proc. */
function stat(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), endedMs: (Number(fields[13]) + Number(fields[14])) * TICK_MS };
}

/** Returns the CPU time of one thread in milliseconds; the kernel reports the time of a process only in ticks. */
const threadMs = (pid, thread) =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

const ownMs = (pid) => readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, thread), 0);

/** Returns the CPU time of the main thread of a process so far, in milliseconds. Linux only. */
export const mainThreadTime = (pid) => threadMs(pid, pid);

/** Returns the CPU time of a process and its children so far, in milliseconds. Linux only. */
export function processTime(root) {
  let sum = 0;
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    try {
      const { parent, endedMs } = stat(pid);
      if (pid === root || parent === root) sum += endedMs + ownMs(pid);
    } catch {
      // The process has ended in the meantime.
    }
  }
  return sum;
}
