import { readFile } from 'node:fs/promises';
import { TRAITS } from '@apistrata/compute-engine/api';
import { type CpuProperties, featuresOf } from './cpu/guest-cpu.js';
import { findFirmware } from './firmware/find-firmware.js';
import { type Swtpm, supportsTpm } from './tpm/swtpm.js';

/** Trait names, without prefix, for CPU features whose names differ from their traits. */
const TRAITS_BY_FEATURE: Readonly<Record<string, readonly string[]>> = {
  pni: ['SSE3'],
  aes: ['AESNI'],
  pclmulqdq: ['CLMUL'],
  bmi1: ['BMI'],
  fma: ['FMA3'],
  'sha-ni': ['SHA'],
  rtm: ['TSX'],
  svm: ['SVM', 'AMD_SVM'],
  vmx: ['VMX', 'INTEL_VMX'],
  gfni: ['AVX512GFNI'],
  vaes: ['AVX512VAES'],
  vpclmulqdq: ['AVX512VPCLMULQDQ'],
  pcid: ['INTEL_PCID'],
  'spec-ctrl': ['INTEL_SPEC_CTRL'],
  ssbd: ['INTEL_SSBD'],
  'md-clear': ['INTEL_MD_CLEAR'],
  ibpb: ['AMD_IBPB'],
  'amd-ssbd': ['AMD_SSBD'],
  'virt-ssbd': ['AMD_VIRT_SSBD'],
  'amd-no-ssb': ['AMD_NO_SSB'],
};

/** Returns a CPU's placement traits; skips features that have no trait. */
export function cpuTraits(properties: CpuProperties): readonly string[] {
  const toTraitName = (feature: string) => feature.toUpperCase().replace(/[.-]/g, '');
  const names = featuresOf(properties).flatMap((feature) => TRAITS_BY_FEATURE[feature] ?? [toTraitName(feature)]);
  return names.map((name) => `HW_CPU_X86_${name}`).filter((trait) => TRAITS.has(trait));
}

/** The files and programs from which host traits are detected. */
export interface HostFiles {
  /** The path of the file that states whether hyper-threading is active. */
  readonly smt?: string;
  /** The TPM emulator; undefined if none is installed. */
  readonly swtpm?: Swtpm | undefined;
  /** The directories that contain firmware descriptors. Default: those that distributions use. */
  readonly firmware?: readonly string[];
}

/** Traits that optional packages provide, and the requirements of servers that need these traits. */
const OPTIONAL_TRAITS = [
  { trait: 'COMPUTE_SECURITY_UEFI_SECURE_BOOT', requirement: 'secure boot', packageName: 'ovmf' },
  { trait: 'COMPUTE_SECURITY_TPM_2_0', requirement: 'a TPM', packageName: 'swtpm' },
] as const;

/**
 * Returns a log line for each requirement of servers that this host does not meet because a package is not installed.
 * The scheduler does not place such servers on this host, so the driver does not report the missing package later.
 * @param traits the placement traits of this host
 */
export function describeMissingTraits(traits: readonly string[]): readonly string[] {
  return OPTIONAL_TRAITS.filter(({ trait }) => !traits.includes(trait)).map(
    ({ trait, requirement, packageName }) =>
      `this host runs no servers that require ${requirement} (${trait}): install the package ${packageName}, and restart`,
  );
}

/** Returns the placement traits of the TPM versions that an emulator supports. */
function tpmTraits(swtpm: Swtpm | undefined): readonly string[] {
  const [hasTpm12, hasTpm20] = (['1.2', '2.0'] as const).map((version) => swtpm && supportsTpm(swtpm, version));
  return [
    ...(hasTpm12 || hasTpm20 ? ['COMPUTE_SECURITY_TPM_TIS'] : []),
    ...(hasTpm12 ? ['COMPUTE_SECURITY_TPM_1_2'] : []),
    ...(hasTpm20 ? ['COMPUTE_SECURITY_TPM_2_0', 'COMPUTE_SECURITY_TPM_CRB'] : []),
  ];
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/**
 * Returns this host's placement traits, which describe its firmware, its TPM emulator, and the guest CPU's features.
 * @param properties the properties of the guest CPU
 */
export async function detectHostTraits(
  properties: CpuProperties,
  { smt = '/sys/devices/system/cpu/smt/active', firmware, swtpm }: HostFiles = {},
): Promise<readonly string[]> {
  const findUefi = (secureBoot: boolean) => findFirmware({ machineFamily: 'pc-q35', secureBoot }, firmware);
  const [smtState, uefi, secureUefi] = await Promise.all([readText(smt), findUefi(false), findUefi(true)]);
  return [
    'COMPUTE_ARCH_X86_64',
    'COMPUTE_FIRMWARE_BIOS',
    'HW_ARCH_X86_64',
    ...(uefi || secureUefi ? ['COMPUTE_FIRMWARE_UEFI'] : []),
    ...(secureUefi ? ['COMPUTE_SECURITY_UEFI_SECURE_BOOT'] : []),
    ...tpmTraits(swtpm),
    ...(smtState.trim() === '1' ? ['HW_CPU_HYPERTHREADING'] : []),
    ...cpuTraits(properties),
  ];
}
