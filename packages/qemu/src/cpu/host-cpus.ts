import type { Acceleration } from '../programs/acceleration.js';
import { QemuError } from '../qemu-error.js';
import { BASELINE_MODEL, BASELINES } from './cpu-baselines.js';
import type { FeatureChanges, RequestedCpu } from './cpu-options.js';
import { type CpuProperties, featuresOf, type GuestCpu } from './guest-cpu.js';
import { type CpuDefinition, type QueriedProgram, queryCpuModels, queryCpuProperties } from './query-cpus.js';

/** The QEMU CPU model that has all features that the host can provide. */
const FULL_MODEL: Readonly<Record<Acceleration, string>> = { kvm: 'host', tcg: 'max' };
/** The QEMU CPU model that has no features. */
const EMPTY_MODEL = 'base';
/** CPU models that error messages omit: those with all or no features, and numbered versions of other models. */
const UNLISTED_MODELS = /^(host|max|base|.*-v\d+)$/;

const createUnavailableError = (message: string) => new QemuError('CPU_UNAVAILABLE', message);

/** Returns a `host-passthrough` CPU for guests whose CPU properties are unknown. */
export function createPassthroughCpu(acceleration: Acceleration): GuestCpu {
  return { mode: 'host-passthrough', model: FULL_MODEL[acceleration], properties: {}, visible: null };
}

/** Returns the CPU properties without disabled features. */
function omitDisabledFeatures(properties: CpuProperties): CpuProperties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== false));
}

/** The constructor arguments of `HostCpus`. */
interface HostCpusArguments {
  readonly from: QueriedProgram;
  readonly definitions: readonly CpuDefinition[];
  /** All properties of the CPU model that has all features. */
  readonly full: CpuProperties;
}

/** The CPUs that a host can provide, as reported by QEMU, and the CPU that its guests get. */
export class HostCpus {
  readonly #queriedProgram: QueriedProgram;
  readonly #definitions: ReadonlyMap<string, CpuDefinition>;
  readonly #fullProperties: CpuProperties;
  /** Cached descriptions of CPU models, which do not change at run time. */
  readonly #descriptions = new Map<string, Promise<CpuProperties>>();
  #guest: GuestCpu;
  /** CPU features that the administrator has disabled on this host. */
  #disabledFeatures: ReadonlySet<string> = new Set();

  private constructor({ from: queriedProgram, definitions, full: fullProperties }: HostCpusArguments) {
    this.#queriedProgram = queriedProgram;
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#fullProperties = fullProperties;
    this.#guest = {
      ...createPassthroughCpu(queriedProgram.acceleration),
      visible: omitDisabledFeatures(fullProperties),
    };
  }

  /** The virtual CPU of guests that start on this host. */
  get guest(): GuestCpu {
    return this.#guest;
  }

  /** Queries QEMU for its CPU models, and selects one for guests. @throws QemuError `CPU_UNAVAILABLE` */
  static async open(queriedProgram: QueriedProgram, requested: RequestedCpu): Promise<HostCpus> {
    const { definitions, properties } = await queryCpuModels(queriedProgram, FULL_MODEL[queriedProgram.acceleration]);
    const cpus = new HostCpus({ from: queriedProgram, definitions, full: properties });
    await cpus.#chooseGuestCpu(requested);
    return cpus;
  }

  async #chooseGuestCpu({ mode, model: name, changes: given }: RequestedCpu): Promise<void> {
    const changes = this.#supportedChanges(given);
    this.#disabledFeatures = new Set(Object.keys(changes).filter((feature) => changes[feature] === false));
    const baseline = BASELINES[name ?? ''];
    const model =
      mode === 'custom' ? (baseline ? BASELINE_MODEL : `${name}`) : FULL_MODEL[this.#queriedProgram.acceleration];
    if (!this.#definitions.has(model))
      throw createUnavailableError(`QEMU does not have the CPU model ${name} (cpuModel): ${this.#describeModels()}`);
    const properties: CpuProperties = { ...baseline, ...changes };
    const allProperties = await this.#describeModel(model, properties);
    const missing = this.#missingFeatures({ model, properties }, allProperties);
    const missingEnabledFeatures = missing.filter((feature) => changes[feature] === true);
    if (missingEnabledFeatures.length > 0)
      throw createUnavailableError(
        `this computer cannot provide the CPU features ${missingEnabledFeatures.join(', ')} (cpuFeatures). Available features: ${featuresOf(this.#fullProperties).join(', ')}`,
      );
    if (missing.length > 0)
      throw createUnavailableError(
        `this computer cannot provide the CPU model ${name}, because it lacks ${missing.join(', ')}. Switch these features off (cpuFeatures), or use another model: ${this.#describeModels()}`,
      );
    this.#guest =
      mode === 'host-model'
        ? this.#toHostModel(allProperties)
        : { mode, model, properties, visible: omitDisabledFeatures(allProperties) };
  }

  /** Expands a CPU into an explicit list of features, which has the same meaning on every host. */
  #toHostModel(allProperties: CpuProperties): GuestCpu {
    const explicitFeatures = Object.entries(omitDisabledFeatures(allProperties)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replaceAll(',', ' ') : value,
    ]);
    const properties: CpuProperties = Object.fromEntries(explicitFeatures);
    return { mode: 'host-model', model: EMPTY_MODEL, properties, visible: properties };
  }

  /** Returns the changes with QEMU's spelling of the feature names: `sse4_2` becomes `sse4.2`. */
  #supportedChanges(changes: FeatureChanges): FeatureChanges {
    const normalizeFeatureName = (name: string) => name.replace(/[._]/g, '-');
    const features = Object.keys(this.#fullProperties).filter(
      (name) => typeof this.#fullProperties[name] === 'boolean',
    );
    const names = new Map(features.map((name) => [normalizeFeatureName(name), name]));
    const entries = Object.entries(changes).map(([given, on]) => {
      const name = names.get(normalizeFeatureName(given));
      if (name === undefined)
        throw createUnavailableError(
          `QEMU does not have the CPU feature ${given} (cpuFeatures). Features that this computer can provide: ${featuresOf(this.#fullProperties).join(', ')}`,
        );
      return [name, on];
    });
    return Object.fromEntries(entries);
  }

  /** Returns a sentence that lists the CPU models that this computer can provide. */
  #describeModels(): string {
    const isAvailable = ({ name, 'unavailable-features': missing = [] }: CpuDefinition) =>
      missing.length === 0 && !UNLISTED_MODELS.test(name);
    const isProvided = ([, features]: [string, FeatureChanges]) =>
      Object.keys(features).every((name) => features[name] === false || this.#fullProperties[name] === true);
    const names = [
      ...Object.entries(BASELINES)
        .filter(isProvided)
        .map(([name]) => name),
      ...[...this.#definitions.values()].filter(isAvailable).map(({ name }) => name),
    ];
    return `this computer can provide ${names.sort().join(', ')}`;
  }

  #describeModel(model: string, properties: CpuProperties): Promise<CpuProperties> {
    if (Object.keys(properties).length === 0 && model === FULL_MODEL[this.#queriedProgram.acceleration])
      return Promise.resolve(this.#fullProperties);
    const key = JSON.stringify([model, properties]);
    const description =
      this.#descriptions.get(key) ??
      queryCpuProperties(this.#queriedProgram, model, properties).catch((error) => {
        this.#descriptions.delete(key);
        throw error;
      });
    this.#descriptions.set(key, description);
    return description;
  }

  /** Returns the names of a CPU's features that this computer cannot provide. */
  #missingFeatures(
    { model, properties }: Pick<GuestCpu, 'model' | 'properties'>,
    allProperties: CpuProperties,
  ): readonly string[] {
    const missing = new Set(this.#definitions.get(model)?.['unavailable-features']);
    return featuresOf(allProperties).filter(
      (name) => this.#fullProperties[name] !== true && (properties[name] === true || missing.has(name)),
    );
  }

  /**
   * Returns why a guest cannot migrate to this host with its current CPU; null if it can.
   * @param hostName the name of this host
   */
  async findObstacle(guest: GuestCpu, hostName: string): Promise<string | null> {
    const { mode, model, visible } = guest;
    if (!visible) return null;
    if (!this.#definitions.has(model)) return `QEMU on host ${hostName} does not have the CPU model ${model}.`;
    if (model === FULL_MODEL.kvm && this.#queriedProgram.acceleration !== 'kvm')
      return `The guest has the CPU of a host with KVM, but host ${hostName} does not use KVM.`;
    const allProperties = await this.#describeModel(model, guest.properties).catch((error: Error) => error.message);
    if (typeof allProperties === 'string')
      return `QEMU on host ${hostName} cannot provide the CPU model ${model}: ${allProperties}`;
    const unavailableFeatures = new Set([...this.#disabledFeatures, ...this.#missingFeatures(guest, allProperties)]);
    const missing = featuresOf(visible).filter((name) => unavailableFeatures.has(name) || allProperties[name] !== true);
    if (missing.length > 0)
      return `Host ${hostName} does not provide features of the guest's CPU: ${missing.join(', ')}.`;
    const localProperties = omitDisabledFeatures(allProperties);
    const differingNames = Object.keys({ ...visible, ...localProperties }).filter(
      (name) => visible[name] !== localProperties[name],
    );
    if (differingNames.length === 0) return null;
    const names = differingNames.sort().join(', ');
    return `With the CPU mode ${mode}, the guest CPU on host ${hostName} differs in ${names}.`;
  }
}
