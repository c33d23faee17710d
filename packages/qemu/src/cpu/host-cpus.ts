import type { Acceleration } from '../programs/acceleration.js';
import { QemuError } from '../qemu-error.js';
import { BASELINE_MODEL, BASELINES } from './cpu-baselines.js';
import type { FeatureChanges, RequestedCpu } from './cpu-options.js';
import { type CpuProperties, featuresOf, type GuestCpu } from './guest-cpu.js';
import { type CpuDefinition, type QueriedProgram, queryCpu, queryCpus } from './query-cpus.js';

/** The QEMU CPU model that has all features that the host can provide. */
const FULL_MODEL: Readonly<Record<Acceleration, string>> = { kvm: 'host', tcg: 'max' };
/** The QEMU CPU model that has no features. */
const EMPTY_MODEL = 'base';
/** CPU models that messages do not list: the full and empty models, and numbered versions of other models. */
const UNLISTED = /^(host|max|base|.*-v\d+)$/;

const unavailableError = (message: string) => new QemuError('CPU_UNAVAILABLE', message);

/** Returns a `host-passthrough` CPU for guests whose CPU properties are unknown. */
export function passthroughCpu(acceleration: Acceleration): GuestCpu {
  return { mode: 'host-passthrough', model: FULL_MODEL[acceleration], properties: {}, visible: null };
}

/** Returns the CPU properties without disabled features. */
function omitDisabled(properties: CpuProperties): CpuProperties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== false));
}

/** The constructor arguments of `HostCpus`. */
interface HostCpusParts {
  readonly from: QueriedProgram;
  readonly definitions: readonly CpuDefinition[];
  /** All properties of the CPU model that has all features. */
  readonly full: CpuProperties;
}

/** The CPUs that a host can provide, as reported by QEMU, and the CPU that its guests get. */
export class HostCpus {
  readonly #from: QueriedProgram;
  readonly #definitions: ReadonlyMap<string, CpuDefinition>;
  readonly #full: CpuProperties;
  /** Cached descriptions of CPU models, which do not change at run time. */
  readonly #described = new Map<string, Promise<CpuProperties>>();
  #guest: GuestCpu;
  /** CPU features that the administrator has disabled on this host. */
  #disabledFeatures: ReadonlySet<string> = new Set();

  private constructor({ from, definitions, full }: HostCpusParts) {
    this.#from = from;
    this.#definitions = new Map(definitions.map((one) => [one.name, one]));
    this.#full = full;
    this.#guest = { ...passthroughCpu(from.acceleration), visible: omitDisabled(full) };
  }

  /** The virtual CPU of guests that start on this host. */
  get guest(): GuestCpu {
    return this.#guest;
  }

  /** Queries QEMU for its CPU models, and selects one for guests. @throws QemuError `CPU_UNAVAILABLE` */
  static async open(from: QueriedProgram, requested: RequestedCpu): Promise<HostCpus> {
    const { definitions, properties } = await queryCpus(from, FULL_MODEL[from.acceleration]);
    const cpus = new HostCpus({ from, definitions, full: properties });
    await cpus.#choose(requested);
    return cpus;
  }

  async #choose({ mode, model: name, changes: given }: RequestedCpu): Promise<void> {
    const changes = this.#supportedChanges(given);
    this.#disabledFeatures = new Set(Object.keys(changes).filter((feature) => changes[feature] === false));
    const baseline = BASELINES[name ?? ''];
    const model = mode === 'custom' ? (baseline ? BASELINE_MODEL : `${name}`) : FULL_MODEL[this.#from.acceleration];
    if (!this.#definitions.has(model))
      throw unavailableError(`QEMU does not have the CPU model ${name} (cpuModel): ${this.#models()}`);
    const properties: CpuProperties = { ...baseline, ...changes };
    const all = await this.#describe(model, properties);
    const missing = this.#missingFeatures({ model, properties }, all);
    const added = missing.filter((feature) => changes[feature] === true);
    if (added.length > 0)
      throw unavailableError(
        `this computer cannot provide the CPU features ${added.join(', ')} (cpuFeatures). Available features: ${featuresOf(this.#full).join(', ')}`,
      );
    if (missing.length > 0)
      throw unavailableError(
        `this computer cannot provide the CPU model ${name}, because it lacks ${missing.join(', ')}. Switch these features off (cpuFeatures), or use another model: ${this.#models()}`,
      );
    this.#guest =
      mode === 'host-model' ? this.#asHostModel(all) : { mode, model, properties, visible: omitDisabled(all) };
  }

  /** Expands a CPU into an explicit list of features, which has the same meaning on every host. */
  #asHostModel(all: CpuProperties): GuestCpu {
    const explicit = Object.entries(omitDisabled(all)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replaceAll(',', ' ') : value,
    ]);
    const properties: CpuProperties = Object.fromEntries(explicit);
    return { mode: 'host-model', model: EMPTY_MODEL, properties, visible: properties };
  }

  /** Returns the changes with QEMU's spelling of the feature names: `sse4_2` becomes `sse4.2`. */
  #supportedChanges(changes: FeatureChanges): FeatureChanges {
    const normalize = (name: string) => name.replace(/[._]/g, '-');
    const features = Object.keys(this.#full).filter((name) => typeof this.#full[name] === 'boolean');
    const names = new Map(features.map((name) => [normalize(name), name]));
    const entries = Object.entries(changes).map(([given, on]) => {
      const name = names.get(normalize(given));
      if (name === undefined)
        throw unavailableError(
          `QEMU does not have the CPU feature ${given} (cpuFeatures). Features that this computer can provide: ${featuresOf(this.#full).join(', ')}`,
        );
      return [name, on];
    });
    return Object.fromEntries(entries);
  }

  /** Returns a sentence that lists the CPU models that this computer can provide. */
  #models(): string {
    const isAvailable = ({ name, 'unavailable-features': missing = [] }: CpuDefinition) =>
      missing.length === 0 && !UNLISTED.test(name);
    const isProvided = ([, features]: [string, FeatureChanges]) =>
      Object.keys(features).every((name) => features[name] === false || this.#full[name] === true);
    const names = [
      ...Object.entries(BASELINES)
        .filter(isProvided)
        .map(([name]) => name),
      ...[...this.#definitions.values()].filter(isAvailable).map(({ name }) => name),
    ];
    return `this computer can provide ${names.sort().join(', ')}`;
  }

  #describe(model: string, properties: CpuProperties): Promise<CpuProperties> {
    if (Object.keys(properties).length === 0 && model === FULL_MODEL[this.#from.acceleration])
      return Promise.resolve(this.#full);
    const key = JSON.stringify([model, properties]);
    const known =
      this.#described.get(key) ??
      queryCpu(this.#from, model, properties).catch((error) => {
        this.#described.delete(key);
        throw error;
      });
    this.#described.set(key, known);
    return known;
  }

  /** Returns the names of a CPU's features that this computer cannot provide. */
  #missingFeatures(
    { model, properties }: Pick<GuestCpu, 'model' | 'properties'>,
    all: CpuProperties,
  ): readonly string[] {
    const missing = new Set(this.#definitions.get(model)?.['unavailable-features']);
    return featuresOf(all).filter(
      (name) => this.#full[name] !== true && (properties[name] === true || missing.has(name)),
    );
  }

  /**
   * Returns why a guest cannot migrate to this host with its current CPU; null if it can.
   * @param hostName the name of this host
   */
  async obstacleFor(guest: GuestCpu, hostName: string): Promise<string | null> {
    const { mode, model, visible } = guest;
    if (!visible) return null;
    if (!this.#definitions.has(model)) return `QEMU on host ${hostName} does not have the CPU model ${model}.`;
    if (model === FULL_MODEL.kvm && this.#from.acceleration !== 'kvm')
      return `The guest has the CPU of a host with KVM, which host ${hostName} does not use.`;
    const all = await this.#describe(model, guest.properties).catch((error: Error) => error.message);
    if (typeof all === 'string') return `QEMU on host ${hostName} cannot provide the CPU model ${model}: ${all}`;
    const unavailable = new Set([...this.#disabledFeatures, ...this.#missingFeatures(guest, all)]);
    const missing = featuresOf(visible).filter((name) => unavailable.has(name) || all[name] !== true);
    if (missing.length > 0)
      return `Host ${hostName} does not provide features of the guest's CPU: ${missing.join(', ')}.`;
    const local = omitDisabled(all);
    const differing = Object.keys({ ...visible, ...local }).filter((name) => visible[name] !== local[name]);
    if (differing.length === 0) return null;
    const names = differing.sort().join(', ');
    return `With the CPU mode ${mode}, the guest CPU on host ${hostName} differs in ${names}.`;
  }
}
