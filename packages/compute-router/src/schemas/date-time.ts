import { z } from 'zod';

/**
 * The supported ISO 8601 formats: a year, month or day, with or without dashes, optionally followed by a space or `T`
 * and a time, with or without colons. `YYYYMM` is rejected because it could also be `YYMMDD`.
 */
const ISO_8601_PATTERN =
  /^(?<year>[0-9]{4})(?:(?:-(?<month>[0-9]{1,2})|(?<bareMonth>[0-9]{2})(?!\n?$))(?:(?:-(?<day>[0-9]{1,2})|(?<bareDay>[0-9]{2}))(?:[ T](?<hour>[0-9]{2})(?::?(?<minute>[0-9]{2}))?(?::?(?<second>[0-9]{1,2})(?:[.,](?<fraction>[0-9]+))?)?(?:Z|(?<sign>[-+])(?<zoneHour>[0-9]{2}):?(?<zoneMinute>[0-9]{2})?)?)?)?)?\n?$/;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Converts an ISO 8601 time to milliseconds since the epoch. A time without a zone is in UTC. Returns undefined if the
 * text does not have a supported format, or the date or time does not exist.
 */
export function parseIsoTime(text: string): number | undefined {
  const parts = ISO_8601_PATTERN.exec(text)?.groups;
  if (!parts) return undefined;
  const number = (digits: string | undefined, otherwise = 0) => (digits === undefined ? otherwise : Number(digits));
  const year = number(parts.year);
  const month = number(parts.month ?? parts.bareMonth, 1);
  const day = number(parts.day ?? parts.bareDay, 1);
  const clock = [number(parts.hour), number(parts.minute), number(parts.second)] as const;
  const zoneMs = (number(parts.zoneHour) * 60 + number(parts.zoneMinute)) * MINUTE_MS * (parts.sign === '-' ? -1 : 1);
  if (year === 0 || clock[0] > 23 || clock[1] > 59 || clock[2] > 59 || Math.abs(zoneMs) >= DAY_MS) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // `Date` would convert a nonexistent day to a later one.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(...clock, Number((parts.fraction ?? '').padEnd(3, '0').slice(0, 3))) - zoneMs;
}

/** Schema for a time in a query string. It is converted to milliseconds since the epoch. */
export const dateTimeText = z.string().transform((text, context) => {
  const time = parseIsoTime(text);
  if (time !== undefined) return time;
  context.addIssue({ code: 'custom', message: `'${text}' is not a 'date-time'` });
  return z.NEVER;
});
