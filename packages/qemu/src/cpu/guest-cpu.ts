import { QemuError } from '../qemu-error.js';
import type { CpuMode } from './cpu-options.js';

type CpuProperty = string | number | boolean;

/** CPU properties by name: the features and the identification (`vendor`, `family`, `model-id`, ...). */
export type CpuProperties = Readonly<Record<string, CpuProperty>>;

/** The virtual CPU of a guest. Hosts exchange this description when the guest migrates. */
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
export function cpuArgument({ mode, model, properties }: GuestCpu, extraProperties: readonly string[] = []): string {
  const formatValue = (value: CpuProperty) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : value);
  const assignments = Object.entries(properties).map(([name, value]) => `${name}=${formatValue(value)}`);
  return [model, ...assignments, ...(mode === 'host-passthrough' ? [] : ['enforce']), ...extraProperties].join();
}

/** Returns the sorted names of the enabled CPU features. */
export function featuresOf(properties: CpuProperties): readonly string[] {
  return Object.keys(properties)
    .filter((name) => properties[name] === true)
    .sort();
}

const KNOWN_MODES: readonly unknown[] = ['host-passthrough', 'host-model', 'custom'] satisfies readonly CpuMode[];
const NAME_PATTERN = /^[\w.-]{1,64}$/;

/** Rejects strings that contain commas, because QEMU separates CPU properties with commas. */
function isProperty(value: unknown): boolean {
  if (typeof value === 'string') return /^[\x20-\x2b\x2d-\x7e]{0,64}$/.test(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isInteger(value));
}

function areProperties(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, propertyValue]) => NAME_PATTERN.test(name) && isProperty(propertyValue));
}

/**
 * Validates a CPU that another process has sent, before it becomes part of a command line.
 * @throws QemuError `UNSUPPORTED`
 */
export function validateCpu({ mode, model, properties, visible }: GuestCpu): GuestCpu {
  const isValid =
    KNOWN_MODES.includes(mode) &&
    NAME_PATTERN.test(model) &&
    areProperties(properties) &&
    (visible === null || areProperties(visible));
  if (!isValid) throw new QemuError('UNSUPPORTED', `malformed CPU ${JSON.stringify(model)?.slice(0, 100)}`);
  return { mode, model, properties, visible };
}
