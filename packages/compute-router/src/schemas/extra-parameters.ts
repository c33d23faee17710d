import { since, until, type Window } from '@apistrata/microversion';
import type { Extra } from '@apistrata/microversion/schema';

/** Main lists: unknown query parameters are ignored at first and refused from 2.75 on. */
export const refusedFrom275: readonly Window<Extra>[] = [until('2.74', 'ignore'), since('2.75', 'refuse')];

/** All other GETs: refused from 2.102 on. */
export const refusedFrom2102: readonly Window<Extra>[] = [until('2.101', 'ignore'), since('2.102', 'refuse')];
