import { type Logger, type LoggerOptions, pino } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import type { Options } from './options.js';

/** A line of the request log, as pino-http writes it. */
interface RequestLine {
  readonly req?: { readonly method: string; readonly url: string };
  readonly res?: { readonly statusCode: number };
  readonly responseTime?: number;
}

/** Log fields that human-readable lines do not contain. */
const OMITTED_FIELDS = 'pid,hostname,req,res,responseTime';

/** Formats a request as one line: method, path, status, duration. Other log lines are unchanged. */
const prettyOptions: PrettyOptions = {
  ignore: OMITTED_FIELDS,
  translateTime: 'SYS:HH:MM:ss',
  singleLine: true,
  messageFormat(line, messageKey) {
    const { req, res, responseTime } = line as RequestLine;
    if (!req || !res) return String(line[messageKey] ?? '');
    const durationText = responseTime === undefined ? '' : ` ${responseTime} ms`;
    return `${req.method} ${req.url} ${res.statusCode}${durationText}`;
  },
};

/**
 * Opens the log of the program on standard output: readable lines on a terminal or with `--log-format pretty`,
 * otherwise JSON. pino-pretty is loaded only for readable lines.
 */
export async function openLog(
  options: Pick<Options, 'log-level' | 'log-format'>,
  terminal: boolean = process.stdout.isTTY === true,
): Promise<Logger> {
  const settings: LoggerOptions = { level: options['log-level'] };
  const format = options['log-format'];
  if (format === 'json' || (format === 'auto' && !terminal)) return pino(settings);
  const { default: pretty } = await import('pino-pretty');
  return pino(settings, pretty({ ...prettyOptions, colorize: terminal, sync: true }));
}
