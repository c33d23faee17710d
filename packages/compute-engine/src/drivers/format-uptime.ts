const DAY_MS = 86_400_000;
const twoDigits = (value: number) => String(value).padStart(2, '0');

/**
 * Formats an uptime like the output of the command `uptime`, without users. Times are in milliseconds; the wall clock
 * is in UTC.
 * @param loads averages over the last 1, 5 and 15 minutes; default: idle
 */
export function formatUptime(nowMs: number, upMs: number, loads: readonly number[] = [0, 0, 0]): string {
  const days = Math.floor(upMs / DAY_MS);
  const hours = Math.floor((upMs % DAY_MS) / 3_600_000);
  const minutes = Math.floor((upMs % 3_600_000) / 60_000);
  const daysPart = days === 0 ? '' : `${days} day${days === 1 ? '' : 's'}, `;
  const rest = hours === 0 ? `${minutes} min` : `${String(hours).padStart(2)}:${twoDigits(minutes)}`;
  return ` ${new Date(nowMs).toISOString().slice(11, 19)} up ${daysPart}${rest},  0 users,  load average: ${loads.map((load) => load.toFixed(2)).join(', ')}`;
}
