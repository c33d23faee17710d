import { describe, expect, it } from 'vitest';
import { randomBytes } from './random-bytes.js';

describe('random bytes', () => {
  it('have the requested length and never repeat', () => {
    const seen = new Set<string>();
    for (let n = 0; n < 2000; n++) {
      const bytes = randomBytes(12);
      expect(bytes).toHaveLength(12);
      seen.add(bytes.toString('hex'));
    }
    expect(seen.size).toBe(2000);
  });

  it('do not share memory with the bytes of other callers', () => {
    const own = randomBytes(16);
    const before = own.toString('hex');
    const others = Array.from({ length: 600 }, () => randomBytes(16));
    for (const bytes of others) bytes.fill(0);
    expect(own.toString('hex')).toBe(before);
    expect(own.buffer).not.toBe(randomBytes(16).buffer);
  });

  it('include every byte value', () => {
    const values = new Set(Array.from({ length: 1000 }, () => [...randomBytes(8)]).flat());
    expect(values.size).toBe(256);
  });
});
