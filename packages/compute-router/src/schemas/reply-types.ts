import { z } from 'zod';
import { commonTexts } from '../reference/common-texts.js';

/** Schemas and formats that several response fields share. */

export const links = z.array(
  z.strictObject({
    rel: z.enum(['self', 'bookmark']).describe(commonTexts.rel),
    href: z.string().describe(commonTexts.href),
  }),
);
export const collectionLinks = z
  .array(
    z.strictObject({ rel: z.literal('next').describe(commonTexts.rel), href: z.string().describe(commonTexts.href) }),
  )
  .length(1);
export const nullableText = z.string().nullable();
export const integer = z.int();
export const textMap = z.record(z.string(), z.string());

/** Schema for a server's creation and update times, which have second precision and end with `Z`. */
export const serverTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
/** Schema for all other times, which have microsecond precision and no time zone designator. */
export const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
export const nullableTime = time.nullable();

const DAY_MS = 86_400_000;
/** The strings `00` to `59`. A cache of all `HH:MM:SS` strings would have 86,400 entries. */
const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

/** The most recently formatted date. It is cached because formatting is slow and a response contains few dates. */
let cachedDay = { number: Number.NaN, text: '' };

/**
 * Formats a time in milliseconds as `YYYY-MM-DDTHH:MM:SS`.
 *
 * @throws RangeError if the time is invalid
 */
function formatSeconds(ms: number): string {
  const dayNumber = Math.floor(ms / DAY_MS);
  if (dayNumber !== cachedDay.number) cachedDay = { number: dayNumber, text: new Date(ms).toISOString().slice(0, 11) };
  const seconds = Math.floor((ms - dayNumber * DAY_MS) / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${cachedDay.text}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
}

/** Formats a time in milliseconds as `YYYY-MM-DDTHH:MM:SSZ`. */
export function formatServerTime(ms: number): string {
  return `${formatSeconds(ms)}Z`;
}

/** Formats a time in milliseconds as `YYYY-MM-DDTHH:MM:SS.ffffff`. */
export function formatTime(ms: number): string {
  const milliseconds = Math.floor(ms - Math.floor(ms / 1000) * 1000);
  return `${formatSeconds(ms)}.${String(milliseconds).padStart(3, '0')}000`;
}

export function formatNullableTime(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms);
}
