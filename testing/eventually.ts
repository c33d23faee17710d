import { vi } from 'vitest';
import { PATIENCE_MS } from './patience.js';

export interface Patience {
  /** Milliseconds after which it is given up; at least 30 s. */
  readonly timeout?: number;
  /** Milliseconds between two attempts. */
  readonly interval?: number;
}

/** Does it again until it throws nothing, and gives what it gave then; throws what it threw last when that never comes. */
export function eventually<T>(attempt: () => T | Promise<T>, patience: Patience = {}): Promise<T> {
  return vi.waitFor(attempt, { timeout: PATIENCE_MS, ...patience });
}
