/** Formats a time as `2026-01-31T12:34:56Z`. */
export function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Formats a time as `2026-01-31T12:34:56.789000`, without a zone. The last three digits are microseconds. */
export function micros(ms: number): string {
  const fraction = Math.floor((ms - Math.floor(ms)) * 1000 + 0.5) % 1000;
  return `${new Date(ms).toISOString().slice(0, 23)}${String(fraction).padStart(3, '0')}`;
}

/** Formats a time as `2026-01-31T12:34:56.789000Z`. */
export function microsZ(ms: number): string {
  return `${micros(ms)}Z`;
}
