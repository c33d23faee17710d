import { QemuError } from '../qemu-error.js';
import type { CpuMode } from './cpu-options.js';

type CpuProperty = string | number | boolean;

/** Properties of a CPU by name: features, and its identification (`vendor`, `family`, `model-id`, ...). */
export type CpuProperties = Readonly<Record<string, CpuProperty>>;

/** The CPU of a guest. Hosts exchange it when the guest moves. */
export interface GuestCpu {
  readonly mode: CpuMode;
  /** The QEMU model. In the mode `host-model`, it is `base`, which has no features. */
  readonly model: string;
  /** The properties that differ from the model. */
  readonly properties: CpuProperties;
  /** All properties that the guest sees, without disabled features; null if unknown. */
  readonly visible: CpuProperties | null;
}

/** Returns the value of QEMU's option `-cpu`. QEMU must fail instead of dropping features that it cannot provide. */
export function cpuArgument({ mode, model, properties }: GuestCpu, more: readonly string[] = []): string {
  const text = (value: CpuProperty) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : value);
  const changes = Object.entries(properties).map(([name, value]) => `${name}=${text(value)}`);
  return [model, ...changes, ...(mode === 'host-passthrough' ? [] : ['enforce']), ...more].join();
}

/** Returns the names of the enabled features, sorted. */
export function featuresOf(properties: CpuProperties): readonly string[] {
  return Object.keys(properties)
    .filter((name) => properties[name] === true)
    .sort();
}

const MODES: readonly unknown[] = ['host-passthrough', 'host-model', 'custom'] satisfies readonly CpuMode[];
const NAME = /^[\w.-]{1,64}$/;

/** Excludes strings with commas, because QEMU separates properties by commas. */
function isProperty(value: unknown): boolean {
  if (typeof value === 'string') return /^[\x20-\x2b\x2d-\x7e]{0,64}$/.test(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isInteger(value));
}

function areProperties(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, one]) => NAME.test(name) && isProperty(one));
}

/**
 * Validates a CPU from another process before it becomes part of a command line.
 * @throws QemuError `UNSUPPORTED`
 */
export function checkedCpu({ mode, model, properties, visible }: GuestCpu): GuestCpu {
  const valid =
    MODES.includes(mode) &&
    NAME.test(model) &&
    areProperties(properties) &&
    (visible === null || areProperties(visible));
  if (!valid) throw new QemuError('UNSUPPORTED', `malformed CPU ${JSON.stringify(model)?.slice(0, 100)}`);
  return { mode, model, properties, visible };
}
