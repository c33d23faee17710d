/** `2026-01-31T12:34:56Z` */
export function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** `2026-01-31T12:34:56.789000`, without a zone. */
export function micros(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000`;
}

/** `2026-01-31T12:34:56.789000Z` */
export function microsZ(ms: number): string {
  return `${micros(ms)}Z`;
}
