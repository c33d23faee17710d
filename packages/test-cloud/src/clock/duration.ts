const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Converts `'5m'`, `'90s'`, `'1h30m'`, `'250ms'`, `'2d'` or a number of milliseconds to milliseconds.
 *
 * @throws TypeError for other values
 */
export function parseDuration(duration: string | number): number {
  if (typeof duration === 'number' && Number.isFinite(duration) && duration >= 0) return duration;
  const text = String(duration);
  const durationParts = [...text.matchAll(/(\d+)(ms|s|m|h|d)/g)];
  if (durationParts.length === 0 || durationParts.map(([part]) => part).join('') !== text)
    throw new TypeError(`"${text}" is not a duration: write 5m, 90s, 1h30m, 250ms or a number of milliseconds`);
  return durationParts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS], 0);
}
