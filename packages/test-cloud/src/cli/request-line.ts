import type { JournalEntry } from '../gateway/journal.js';

const COLORS = { good: 32, neutral: 33, bad: 31 } as const;

/** Formats a request as a log line: time, status, method, path, version, duration, request id. */
export function formatRequestLine(entry: JournalEntry, colored: boolean): string {
  const { at, status, method, url, version, requestId, durationMs } = entry;
  const severity = status === 0 || status >= 500 ? 'bad' : status >= 400 ? 'neutral' : 'good';
  const statusText = status === 0 ? 'cut' : String(status);
  const colorize = (text: string) => (colored ? `\x1b[${COLORS[severity]}m${text}\x1b[0m` : text);
  return [
    new Date(at).toISOString().slice(11, 23),
    colorize(statusText),
    method.padEnd(6),
    url,
    ...(version ? [version] : []),
    `${durationMs.toFixed(1)}ms`,
    requestId,
  ].join(' ');
}
