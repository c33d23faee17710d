import { uptime } from 'node:os';

/**
 * Returns the time since the computer booted, in milliseconds, including the time for which it was suspended. All
 * processes on the computer read the same clock, and it cannot be set. Resolution: 10 ms.
 */
export function bootTime(): number {
  return uptime() * 1000;
}
