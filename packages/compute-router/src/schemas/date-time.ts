import { z } from 'zod';

/**
 * The accepted forms of ISO 8601: a year, a month or a day, with or without dashes, and a time after a space or a `T`,
 * with or without colons. `YYYYMM` is rejected: it could be `YYMMDD`.
 */
const ISO_8601 =
  /^(?<year>[0-9]{4})(?:(?:-(?<month>[0-9]{1,2})|(?<bareMonth>[0-9]{2})(?!\n?$))(?:(?:-(?<day>[0-9]{1,2})|(?<bareDay>[0-9]{2}))(?:[ T](?<hour>[0-9]{2})(?::?(?<minute>[0-9]{2}))?(?::?(?<second>[0-9]{1,2})(?:[.,](?<fraction>[0-9]+))?)?(?:Z|(?<sign>[-+])(?<zoneHour>[0-9]{2}):?(?<zoneMinute>[0-9]{2})?)?)?)?)?\n?$/;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Parses an ISO 8601 time to milliseconds since the epoch. A time without a zone is in UTC. Returns undefined for
 * anything else, and for dates and times that do not exist.
 */
export function isoTime(text: string): number | undefined {
  const parts = ISO_8601.exec(text)?.groups;
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
  // `Date` maps a nonexistent day to a later one.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(...clock, Number((parts.fraction ?? '').padEnd(3, '0').slice(0, 3))) - zoneMs;
}

/** A time in a query string, as milliseconds since the epoch. */
export const dateTimeText = z.string().transform((text, context) => {
  const time = isoTime(text);
  if (time !== undefined) return time;
  context.addIssue({ code: 'custom', message: `'${text}' is not a 'date-time'` });
  return z.NEVER;
});
