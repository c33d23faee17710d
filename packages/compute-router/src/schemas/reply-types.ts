import { z } from 'zod';

/** Types that fields of answers share. */

export const links = z.array(z.strictObject({ rel: z.enum(['self', 'bookmark']), href: z.string() }));
export const collectionLinks = z.array(z.strictObject({ rel: z.literal('next'), href: z.string() })).length(1);
export const nullableText = z.string().nullable();
export const wholeNumber = z.int();
export const textMap = z.record(z.string(), z.string());

/** Seconds with Z: creation and change of servers. */
export const serverTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
/** Microseconds without zone: all other times. */
export const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
export const nullableTime = time.nullable();

/** A time in milliseconds as `YYYY-MM-DDTHH:MM:SSZ`. */
export function showServerTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A time in milliseconds as `YYYY-MM-DDTHH:MM:SS.ffffff`. */
export function showTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000`;
}

export function showNullableTime(ms: number | null): string | null {
  return ms === null ? null : showTime(ms);
}
