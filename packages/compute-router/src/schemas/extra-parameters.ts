import { since, until, type Window } from '@apistrata/microversion';
import type { Extra } from '@apistrata/microversion/schema';

/** The rule of the main lists: unknown query parameters are ignored until 2.74 and rejected since 2.75. */
export const rejectedSince275: readonly Window<Extra>[] = [until('2.74', 'ignore'), since('2.75', 'reject')];

/** The rule of all other GET requests: unknown query parameters are ignored until 2.101 and rejected since 2.102. */
export const rejectedSince2102: readonly Window<Extra>[] = [until('2.101', 'ignore'), since('2.102', 'reject')];
