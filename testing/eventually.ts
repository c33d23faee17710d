import { vi } from 'vitest';
import { CONDITION_TIMEOUT_MS } from './condition-timeout.js';

export interface EventuallyOptions {
  /** Timeout in milliseconds; at least 30 s. */
  readonly timeout?: number;
  /** The time between two attempts, in milliseconds. */
  readonly interval?: number;
}

/** Repeats a function until it succeeds, and returns its result; at the timeout, throws its last error. */
export function eventually<T>(attempt: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  return vi.waitFor(attempt, { timeout: CONDITION_TIMEOUT_MS, ...options });
}
