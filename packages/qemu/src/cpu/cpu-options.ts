/** The guest CPU modes, named after the values of Nova's option `[libvirt] cpu_mode`. */
const CPU_MODES = ['host-passthrough', 'host-model', 'custom'] as const;
export type CpuMode = (typeof CPU_MODES)[number];

/** CPU features to enable (`true`) or disable (`false`), by lower-case name. */
export type FeatureChanges = Readonly<Record<string, boolean>>;

export interface CpuOptions {
  readonly cpuMode?: CpuMode;
  readonly cpuModel?: string;
  readonly cpuFeatures?: readonly string[];
}

/** The guest CPU that the administrator has configured. */
export interface RequestedCpu {
  readonly mode: CpuMode;
  /** The name of the CPU model; undefined unless the mode is `custom`. */
  readonly model: string | undefined;
  readonly changes: FeatureChanges;
}

/** Parses a CPU feature, such as `+aes`, `aes` or `-aes`. */
function parseFeature(setting: string): [name: string, on: boolean] | undefined {
  const [, sign, name] = /^([+-]?)([A-Za-z0-9][\w.-]*)$/.exec(setting) ?? [];
  return name === undefined ? undefined : [name.toLowerCase(), sign !== '-'];
}

/**
 * Returns the guest CPU that the options configure; the default mode is `host-passthrough`.
 *
 * @throws TypeError if an option is invalid
 */
export function parseCpuOptions(place: string, options: CpuOptions): RequestedCpu {
  const { cpuMode: mode = 'host-passthrough', cpuModel: model, cpuFeatures = [] } = options;
  if (!CPU_MODES.includes(mode))
    throw new TypeError(`${place}: cpuMode must be host-passthrough, host-model or custom, not '${mode}'`);
  if (mode === 'custom' && model === undefined)
    throw new TypeError(`${place}: cpuMode custom requires cpuModel, such as x86-64-v2-AES`);
  if (mode !== 'custom' && model !== undefined)
    throw new TypeError(`${place}: cpuModel requires cpuMode custom, not ${mode}`);
  if (model !== undefined && !/^[\w.-]{1,64}$/.test(model))
    throw new TypeError(`${place}: cpuModel must be the name of a CPU model, such as x86-64-v2-AES, not '${model}'`);
  if (model === 'host' || model === 'max')
    throw new TypeError(`${place}: cpuModel ${model} is not a model; use cpuMode host-passthrough`);
  const changes: Record<string, boolean> = {};
  for (const setting of cpuFeatures) {
    const parsedFeature = parseFeature(setting);
    if (!parsedFeature)
      throw new TypeError(
        `${place}: cpuFeatures must contain CPU feature names, such as +aes or -avx2, not '${setting}'`,
      );
    const [name, on] = parsedFeature;
    if (changes[name] === !on) throw new TypeError(`${place}: cpuFeatures switches ${name} both on and off`);
    changes[name] = on;
  }
  return { mode, model, changes };
}
