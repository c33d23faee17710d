import { QemuError } from '../qemu-error.js';
import type { CpuMode } from './cpu-options.js';

type CpuProperty = string | number | boolean;

/** CPU properties by name: the features and the identification (`vendor`, `family`, `model-id`, ...). */
export type CpuProperties = Readonly<Record<string, CpuProperty>>;

/** The virtual CPU of a guest, which hosts exchange when the guest migrates. */
export interface GuestCpu {
  readonly mode: CpuMode;
  /** The QEMU CPU model. In the mode `host-model`, this is `base`, a model without features. */
  readonly model: string;
  /** The CPU properties that differ from those of the model. */
  readonly properties: CpuProperties;
  /** All CPU properties that the guest sees, without disabled features; null if unknown. */
  readonly visible: CpuProperties | null;
}

/** Returns the value of QEMU's option `-cpu`. The flag `enforce` makes QEMU fail rather than drop features. */
export function cpuArgument({ mode, model, properties }: GuestCpu, more: readonly string[] = []): string {
  const text = (value: CpuProperty) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : value);
  const changes = Object.entries(properties).map(([name, value]) => `${name}=${text(value)}`);
  return [model, ...changes, ...(mode === 'host-passthrough' ? [] : ['enforce']), ...more].join();
}

/** Returns the sorted names of the enabled CPU features. */
export function featuresOf(properties: CpuProperties): readonly string[] {
  return Object.keys(properties)
    .filter((name) => properties[name] === true)
    .sort();
}

const MODES: readonly unknown[] = ['host-passthrough', 'host-model', 'custom'] satisfies readonly CpuMode[];
const NAME = /^[\w.-]{1,64}$/;

/** Rejects strings that contain commas, because QEMU separates CPU properties with commas. */
function isProperty(value: unknown): boolean {
  if (typeof value === 'string') return /^[\x20-\x2b\x2d-\x7e]{0,64}$/.test(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isInteger(value));
}

function areProperties(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, one]) => NAME.test(name) && isProperty(one));
}

/**
 * Validates a CPU that another process has sent, before it becomes part of a command line.
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
