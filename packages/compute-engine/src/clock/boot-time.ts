import { uptime } from 'node:os';

/**
 * Returns the milliseconds since the computer booted, including time spent suspended. All processes on the computer
 * read the same clock, which cannot be set. Resolution: 10 ms.
 */
export function bootTime(): number {
  return uptime() * 1000;
}
