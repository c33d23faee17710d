/** Formats a time as `2026-01-31T12:34:56Z`. */
export function formatSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Formats a time as `2026-01-31T12:34:56.789000`, without a zone. The last three digits are microseconds. */
export function formatMicros(ms: number): string {
  const microsecondDigits = Math.floor((ms - Math.floor(ms)) * 1000 + 0.5) % 1000;
  return `${new Date(ms).toISOString().slice(0, 23)}${String(microsecondDigits).padStart(3, '0')}`;
}

/** Formats a time as `2026-01-31T12:34:56.789000Z`. */
export function formatMicrosUtc(ms: number): string {
  return `${formatMicros(ms)}Z`;
}
