import type { Preset, Settings } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import type { PresetName } from './presets/presets.js';

/** What `startCloud()` can be told. Everything has a default. */
export interface CloudOptions {
  /** What there is from the start; default `small`. */
  readonly preset?: PresetName | Preset;
  /** Default: a free one. */
  readonly port?: number;
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Whether `/_control` is there for programs in other languages; default false. */
  readonly control?: boolean;
  /** Time that every step of a machine takes; default 0. */
  readonly latencyMs?: number;
  /**
   * How fast machines are, by name: `instant` (the default), or `realistic`, which is 300 ms a step: for suites that
   * look for states on the way. Not together with `latencyMs`.
   */
  readonly pace?: keyof typeof PACES;
  /** How long every step of a machine waits to be read before it is done, in milliseconds; default 0: not at all. */
  readonly transientMs?: number;
  /** `running` (the default), or `frozen`: only `clock.advance()` moves it. */
  readonly clock?: 'running' | 'frozen';
  /** Highest compute microversion; default 2.100. `latest`: the last that compute knows. */
  readonly maxVersion?: string;
  /** Settings of the compute engine: default quotas, deferred deletion, ... */
  readonly settings?: Partial<Settings>;
  /** Told of errors that became a 500, and of background work that broke down; default: `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** Milliseconds that every step of a machine takes. */
export const PACES = { instant: 0, realistic: 300 } as const;

const OPTIONS: Readonly<Record<keyof CloudOptions, true>> = {
  preset: true,
  port: true,
  host: true,
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

/** Throws a TypeError that names the cure for options that make no sense. */
export function checkCloudOptions(options: CloudOptions): void {
  checkOptions('startCloud()', options, OPTIONS);
  const { preset, clock } = options;
  if (typeof preset === 'string' && !PRESETS.includes(preset))
    throw new TypeError(`startCloud(): there is no preset "${preset}" (there are ${PRESETS.join(', ')}, or your own)`);
  if (options.pace !== undefined && !Object.hasOwn(PACES, options.pace))
    throw new TypeError(
      `startCloud(): there is no pace "${options.pace}" (there are ${Object.keys(PACES).join(', ')})`,
    );
  if (options.pace !== undefined && options.latencyMs !== undefined)
    throw new TypeError('startCloud(): pace and latencyMs say the same; give one of them');
  const { transientMs = 0 } = options;
  if (!Number.isFinite(transientMs) || transientMs < 0)
    throw new TypeError(`startCloud(): transientMs is a number of milliseconds, not ${JSON.stringify(transientMs)}`);
  if (clock !== undefined && clock !== 'running' && clock !== 'frozen')
    throw new TypeError(`startCloud(): clock is "running" or "frozen", not ${JSON.stringify(clock)}`);
}
