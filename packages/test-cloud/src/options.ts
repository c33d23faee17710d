import type { Preset, Settings } from '@apistrata/compute-engine';
import type { PresetName } from './presets/presets.js';

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
  /** `running` (the default), or `frozen`: only `clock.advance()` moves it. */
  readonly clock?: 'running' | 'frozen';
  /** Highest compute microversion; default 2.100. */
  readonly maxVersion?: string;
  /** Settings of the compute engine: default quotas, deferred deletion, ... */
  readonly settings?: Partial<Settings>;
  /** Told of errors that became a 500, and of background work that broke down; default: `console.error`. */
  readonly onError?: (error: unknown) => void;
}

const NAMES = ['preset', 'port', 'host', 'control', 'latencyMs', 'clock', 'maxVersion', 'settings', 'onError'];
const PRESETS = ['minimal', 'small', 'large'];

/** Throws a TypeError that names the cure for options that make no sense. */
export function checkOptions(options: CloudOptions): void {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown) throw new TypeError(`startCloud(): unknown option "${unknown}" (there are ${NAMES.join(', ')})`);
  const { preset, clock } = options;
  if (typeof preset === 'string' && !PRESETS.includes(preset))
    throw new TypeError(`startCloud(): there is no preset "${preset}" (there are ${PRESETS.join(', ')}, or your own)`);
  if (clock !== undefined && clock !== 'running' && clock !== 'frozen')
    throw new TypeError(`startCloud(): clock is "running" or "frozen", not ${JSON.stringify(clock)}`);
}
