import { since, until, type Window } from '@apistrata/microversion';
import type { Extra } from '@apistrata/microversion/schema';

/** Main lists: unknown query parameters are ignored until 2.74 and rejected since 2.75. */
export const rejectedSince275: readonly Window<Extra>[] = [until('2.74', 'ignore'), since('2.75', 'reject')];

/** All other GETs: unknown query parameters are rejected since 2.102. */
export const rejectedSince2102: readonly Window<Extra>[] = [until('2.101', 'ignore'), since('2.102', 'reject')];
