import type { Preset, Settings } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import type { PresetName } from './presets/presets.js';

/** Options of `startCloud()`. All have defaults. */
export interface CloudOptions {
  /** The initial content; default `small`. */
  readonly preset?: PresetName | Preset;
  /** The port to listen on; default: a free port. */
  readonly port?: number;
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /**
   * Additional host names, without a port, that clients use in the `Host` header, such as a proxy's name. Default: none. On
   * loopback, requests for names other than localhost, 127.0.0.1, [::1], `host` and these return 421.
   */
  readonly allowedHosts?: readonly string[];
  /** Whether `/_control` is available, for programs in other languages; default false. */
  readonly control?: boolean;
  /** Duration of every step of a machine in milliseconds; default 0. */
  readonly latencyMs?: number;
  /**
   * Speed of machines: `instant` (the default), or `realistic`, 300 ms per step, for tests that observe transient
   * states. Mutually exclusive with `latencyMs`.
   */
  readonly pace?: keyof typeof SPEEDS;
  /**
   * The maximum time that a step of a machine waits until a client has read its transient state, in milliseconds;
   * default 0.
   */
  readonly transientMs?: number;
  /** `running` (the default), or `frozen`: only `clock.advance()` advances it. */
  readonly clock?: 'running' | 'frozen';
  /** Highest compute microversion; default 2.100. `latest`: the highest that the compute service supports. */
  readonly maxVersion?: string;
  /** Settings of the compute engine: default quotas, deferred deletion, ... */
  readonly settings?: Partial<Settings>;
  /** Receives errors that were returned as 500, and failures of background work; default: `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** Milliseconds per step of a machine. */
export const SPEEDS = { instant: 0, realistic: 300 } as const;

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

/** @throws TypeError with the fix if an option is invalid */
export function checkCloudOptions(options: CloudOptions): void {
  checkOptions('startCloud()', options, OPTIONS);
  const { preset, clock } = options;
  if (typeof preset === 'string' && !PRESETS.includes(preset))
    throw new TypeError(`startCloud(): unknown preset "${preset}" (use ${PRESETS.join(', ')}, or your own)`);
  if (options.pace !== undefined && !Object.hasOwn(SPEEDS, options.pace))
    throw new TypeError(`startCloud(): unknown pace "${options.pace}" (use ${Object.keys(SPEEDS).join(', ')})`);
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
