import { since, until, type Window } from '@apistrata/microversion';
import type { Extra } from '@apistrata/microversion/schema';

/**
 * How list operations handle unknown query parameters: they ignore them until version 2.74, and reject them since 2.75.
 */
export const rejectedSince275: readonly Window<Extra>[] = [until('2.74', 'ignore'), since('2.75', 'reject')];

/**
 * How all other GET operations handle unknown query parameters: they ignore them until version 2.101, and reject them
 * since 2.102.
 */
export const rejectedSince2102: readonly Window<Extra>[] = [until('2.101', 'ignore'), since('2.102', 'reject')];
