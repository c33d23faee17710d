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

const DAY_MS = 86_400_000;
/** `HH:MM:SS` takes this many texts a day, the parts of one only these. */
const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

/** The day that was shown last: the times of one answer are mostly of few days, and its calendar is the dear part. */
let shownDay = { number: Number.NaN, text: '' };

/** A time in milliseconds as `YYYY-MM-DDTHH:MM:SS`. Throws RangeError for one that is none. */
function showSeconds(ms: number): string {
  const number = Math.floor(ms / DAY_MS);
  if (number !== shownDay.number) shownDay = { number, text: new Date(ms).toISOString().slice(0, 11) };
  const seconds = Math.floor((ms - number * DAY_MS) / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${shownDay.text}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
}

/** A time in milliseconds as `YYYY-MM-DDTHH:MM:SSZ`. */
export function showServerTime(ms: number): string {
  return `${showSeconds(ms)}Z`;
}

/** A time in milliseconds as `YYYY-MM-DDTHH:MM:SS.ffffff`. */
export function showTime(ms: number): string {
  const rest = Math.floor(ms - Math.floor(ms / 1000) * 1000);
  return `${showSeconds(ms)}.${String(rest).padStart(3, '0')}000`;
}

export function showNullableTime(ms: number | null): string | null {
  return ms === null ? null : showTime(ms);
}
