import { HealthcheckConfigError } from '../errors.js';
import type { Healthcheck } from '../healthcheck.js';
import { rejectUnknownKeys } from '../known-names.js';
import type { HealthcheckLog } from '../log.js';
import type { HealthcheckOptions } from '../options.js';
import { type DrainOptions, drainTimes } from './drain.js';
import { type GuardLimits, validateIntegers } from './limits.js';

/** One shutdown hook, or several that run one after the other. The shutdown waits for the promises that they return. */
export type ShutdownHooks = ShutdownHook | readonly ShutdownHook[];

/** Code that runs during a shutdown. An error is logged, and the shutdown continues. */
export type ShutdownHook = () => unknown;

/** Options for `gracefulServer()`. Times are in milliseconds. */
export interface GracefulServerOptions extends Omit<DrainOptions, 'health'> {
  /** The endpoints: the result of `healthcheck()`, or its options. Default: `/healthcheck` without checks. */
  readonly health?: Healthcheck | HealthcheckOptions;
  /**
   * A separate port for the endpoints; 0 selects a free port. Default: the server itself serves the endpoints, before its request
   * listeners.
   */
  readonly port?: number;
  /** The address that the separate port listens on. Default: all addresses. */
  readonly host?: string;
  /** The signals that start the shutdown, after which the process exits. Default `SIGTERM` and `SIGINT`. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Runs after the endpoints have started to fail, while requests are still accepted. */
  readonly beforeShutdown?: ShutdownHooks;
  /** Runs after the last response and the last beacon, for example to close database connections. */
  readonly onShutdown?: ShutdownHooks;
  /** The maximum duration of the whole shutdown. Default 25,000, less than the 30 s after which Kubernetes ends a process. */
  readonly timeoutMs?: number;
  /** Connection limits, as for `guardServer()`. */
  readonly limits?: GuardLimits;
  /** The logger for hook errors and timeouts; `false` disables logging. Default `console`. */
  readonly log?: HealthcheckLog | false;
}

/** The validated options with their defaults. */
export interface GracefulSettings {
  readonly signals: readonly NodeJS.Signals[];
  readonly beforeShutdown: readonly ShutdownHook[];
  readonly onShutdown: readonly ShutdownHook[];
  readonly timeoutMs: number;
  readonly drain: Omit<DrainOptions, 'health'>;
  readonly error: (message: string) => void;
}

const OPTION_NAMES: readonly (keyof GracefulServerOptions)[] = [
  'health',
  'port',
  'host',
  'signals',
  'beforeShutdown',
  'onShutdown',
  'delayMs',
  'quietMs',
  'graceMs',
  'timeoutMs',
  'limits',
  'log',
];

/** The names of all `gracefulServer()` options. */
export const GRACEFUL_OPTION_NAMES: readonly string[] = OPTION_NAMES;

type TimeoutOption = Pick<GracefulServerOptions, 'timeoutMs'>;

const DEFAULT_TIMEOUT: Required<TimeoutOption> = { timeoutMs: 25_000 };

/** Validates options and adds defaults. @throws HealthcheckConfigError if an option is unknown or invalid */
export function gracefulSettings(options: GracefulServerOptions): GracefulSettings {
  const functionName = 'gracefulServer()';
  rejectUnknownKeys(functionName, options, GRACEFUL_OPTION_NAMES);
  const { delayMs, quietMs, graceMs, port, log = console } = options;
  const drain = drainTimes({ delayMs, quietMs, graceMs });
  const { timeoutMs } = validateIntegers<TimeoutOption>(
    functionName,
    { timeoutMs: options.timeoutMs },
    DEFAULT_TIMEOUT,
  );
  if (timeoutMs <= drain.delayMs) {
    const problem = `${timeoutMs} is not greater than delayMs (${drain.delayMs})`;
    throw new HealthcheckConfigError(
      'timeoutMs',
      problem,
      'Requests are still accepted during the delay: set a timeoutMs that is greater than delayMs',
    );
  }
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new HealthcheckConfigError('port', `${port} is not a port`, 'Use an integer from 0 to 65535');
  return {
    signals: options.signals ?? ['SIGTERM', 'SIGINT'],
    beforeShutdown: hookList('beforeShutdown', options.beforeShutdown),
    onShutdown: hookList('onShutdown', options.onShutdown),
    timeoutMs,
    drain,
    error: log === false ? () => undefined : (message) => log.error(message),
  };
}

function hookList(option: string, hooks: ShutdownHooks = []): readonly ShutdownHook[] {
  const hookArray = typeof hooks === 'function' ? [hooks] : hooks;
  if (Array.isArray(hookArray) && hookArray.every((hook) => typeof hook === 'function')) return hookArray;
  throw new HealthcheckConfigError(option, 'is not a function', 'Use a function, or an array of functions');
}
