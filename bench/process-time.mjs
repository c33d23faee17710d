import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Of one process, from /proc: its parent, and the processor time of it and of its children that have ended. */
function stat(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ms: ticks * TICK_MS };
}

/** Processor time that a process and its children have taken so far, in milliseconds. Linux only. */
export function processTime(root) {
  let sum = 0;
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    try {
      const { parent, ms } = stat(pid);
      if (pid === root || parent === root) sum += ms;
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}
