import { uptime } from 'node:os';

/**
 * Returns the milliseconds since the computer was booted, including the time for which it was suspended. All processes
 * of a computer read the same clock, which cannot be set. Resolution: 10 ms.
 */
export function bootTime(): number {
  return uptime() * 1000;
}
