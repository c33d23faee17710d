import type { Preset, Settings } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import type { PresetName } from './presets/presets.js';

/** Options for `startCloud()`. All are optional. */
export interface CloudOptions {
  /** The initial content of the cloud; default `small`. */
  readonly preset?: PresetName | Preset;
  /** The port to listen on; default: a free port. */
  readonly port?: number;
  /** The address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /**
   * Additional host names, without a port, that clients use in the `Host` header, such as a proxy's name. Default: none. On
   * loopback, requests for names other than localhost, 127.0.0.1, [::1], `host` and these return 421.
   */
  readonly allowedHosts?: readonly string[];
  /** Whether `/_control` is available, for programs in other languages; default false. */
  readonly control?: boolean;
  /** The duration of each step of a machine operation, in milliseconds; default 0. */
  readonly latencyMs?: number;
  /**
   * The speed of machines: `instant` (the default), or `realistic` (300 ms per step) for tests that observe transient
   * states. Mutually exclusive with `latencyMs`.
   */
  readonly pace?: keyof typeof STEP_DURATIONS_MS;
  /**
   * The maximum time that a machine step waits for a client to read the transient state, in milliseconds; default 0.
   */
  readonly transientMs?: number;
  /** `running` (the default), or `frozen`: time advances only with `clock.advance()`. */
  readonly clock?: 'running' | 'frozen';
  /** The highest compute microversion; default 2.100. `latest` is the highest one that the compute service supports. */
  readonly maxVersion?: string;
  /** The compute engine's settings: default quotas, deferred deletion, ... */
  readonly settings?: Partial<Settings>;
  /** Called with errors that caused a 500 response, and with failures of background jobs; default: `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** The duration of a machine step in milliseconds, by `pace`. */
export const STEP_DURATIONS_MS = { instant: 0, realistic: 300 } as const;

const OPTIONS: Readonly<Record<keyof CloudOptions, true>> = {
  preset: true,
  port: true,
  host: true,
  allowedHosts: true,
  control: true,
  latencyMs: true,
  pace: true,
  transientMs: true,
  clock: true,
  maxVersion: true,
  settings: true,
  onError: true,
};
const PRESETS = ['minimal', 'small', 'large'];

/** @throws TypeError if an option is invalid; the message names the fix */
export function checkCloudOptions(options: CloudOptions): void {
  checkOptions('startCloud()', options, OPTIONS);
  const { preset, clock } = options;
  if (typeof preset === 'string' && !PRESETS.includes(preset))
    throw new TypeError(`startCloud(): unknown preset "${preset}" (use ${PRESETS.join(', ')}, or your own)`);
  if (options.pace !== undefined && !Object.hasOwn(STEP_DURATIONS_MS, options.pace))
    throw new TypeError(
      `startCloud(): unknown pace "${options.pace}" (use ${Object.keys(STEP_DURATIONS_MS).join(', ')})`,
    );
  if (options.pace !== undefined && options.latencyMs !== undefined)
    throw new TypeError('startCloud(): pace and latencyMs are mutually exclusive');
  const { transientMs = 0 } = options;
  if (!Number.isFinite(transientMs) || transientMs < 0)
    throw new TypeError(
      `startCloud(): transientMs must be a number of milliseconds, not ${JSON.stringify(transientMs)}`,
    );
  if (clock !== undefined && clock !== 'running' && clock !== 'frozen')
    throw new TypeError(`startCloud(): clock must be "running" or "frozen", not ${JSON.stringify(clock)}`);
}
