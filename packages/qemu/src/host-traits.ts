import { readFile } from 'node:fs/promises';
import { TRAITS } from '@apistrata/compute-engine/api';
import { findFirmware } from './firmware/find-firmware.js';
import type { Acceleration } from './programs/acceleration.js';
import { type Swtpm, supportsTpm } from './tpm/swtpm.js';

/** Traits of processor flags whose names differ. */
const TRAITS_OF_FLAGS: Readonly<Record<string, readonly string[]>> = {
  pni: ['SSE3'],
  sse4_1: ['SSE41'],
  sse4_2: ['SSE42'],
  aes: ['AESNI'],
  pclmulqdq: ['CLMUL'],
  bmi1: ['BMI'],
  fma: ['FMA3'],
  sha_ni: ['SHA'],
  rtm: ['TSX'],
  svm: ['SVM', 'AMD_SVM'],
  vmx: ['VMX', 'INTEL_VMX'],
};

/** Returns the traits of the first processor in the text of `/proc/cpuinfo`; flags without a trait are skipped. */
export function processorTraits(cpuinfo: string): readonly string[] {
  const flags = /^flags\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(/\s+/) ?? [];
  const names = flags.flatMap((flag) => TRAITS_OF_FLAGS[flag] ?? [flag.toUpperCase().replace('AVX512_', 'AVX512')]);
  return names.map((name) => `HW_CPU_X86_${name}`).filter((trait) => TRAITS.has(trait));
}

/** Files that describe this computer. */
export interface HostFiles {
  readonly cpuinfo?: string;
  /** Whether the processors execute several threads each. */
  readonly smt?: string;
  /** The TPM emulator, if it is installed. */
  readonly swtpm?: Swtpm | undefined;
  /** Folders with descriptors of firmware. Default: those of distributions. */
  readonly firmware?: readonly string[];
}

/** Returns the traits of the TPMs that an emulator supports. */
function tpmTraits(swtpm: Swtpm | undefined): readonly string[] {
  const [old, current] = (['1.2', '2.0'] as const).map((version) => swtpm && supportsTpm(swtpm, version));
  return [
    ...(old || current ? ['COMPUTE_SECURITY_TPM_TIS'] : []),
    ...(old ? ['COMPUTE_SECURITY_TPM_1_2'] : []),
    ...(current ? ['COMPUTE_SECURITY_TPM_2_0', 'COMPUTE_SECURITY_TPM_CRB'] : []),
  ];
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/**
 * Detects the traits of this computer as a host: its firmware, its TPM emulator, and with KVM, which passes them on to
 * guests, the features of its processor.
 */
export async function hostTraits(
  acceleration: Acceleration,
  { cpuinfo = '/proc/cpuinfo', smt = '/sys/devices/system/cpu/smt/active', firmware, swtpm }: HostFiles = {},
): Promise<readonly string[]> {
  const has = (secureBoot: boolean) => findFirmware({ machineFamily: 'pc-q35', secureBoot }, firmware);
  const [text, threads, uefi, secure] = await Promise.all([textOf(cpuinfo), textOf(smt), has(false), has(true)]);
  return [
    'COMPUTE_ARCH_X86_64',
    'COMPUTE_FIRMWARE_BIOS',
    'HW_ARCH_X86_64',
    ...(uefi || secure ? ['COMPUTE_FIRMWARE_UEFI'] : []),
    ...(secure ? ['COMPUTE_SECURITY_UEFI_SECURE_BOOT'] : []),
    ...tpmTraits(swtpm),
    ...(threads.trim() === '1' ? ['HW_CPU_HYPERTHREADING'] : []),
    ...(acceleration === 'kvm' ? processorTraits(text) : []),
  ];
}
