import { timingSafeEqual } from 'node:crypto';

/** Compares two secrets in constant time, so that the duration does not reveal where they differ. */
export function equalInConstantTime(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
