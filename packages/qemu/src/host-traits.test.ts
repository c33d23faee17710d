import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cpuTraits, detectHostTraits } from './host-traits.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'host-traits-'));
  await writeFile(join(folder, 'smt'), '1\n');
  for (const name of ['code', 'variables']) await writeFile(join(folder, name), '');
});
afterAll(() => rm(folder, { recursive: true }));

const file = (name: string) => join(folder, name);

async function firmware(name: string, features: readonly string[]): Promise<string> {
  const descriptors = await mkdtemp(file(name));
  const image = (filename: string) => ({ filename: file(filename), format: 'raw' });
  const descriptor = {
    'interface-types': ['uefi'],
    mapping: { device: 'flash', executable: image('code'), 'nvram-template': image('variables') },
    targets: [{ architecture: 'x86_64', machines: ['pc-q35-*'] }],
    features,
  };
  await writeFile(join(descriptors, `${name}.json`), JSON.stringify(descriptor));
  return descriptors;
}

const ofFeatures = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, true]));

it('names the features of a CPU as traits', () => {
  const names = ['sse', 'pni', 'sse4.2', 'aes', 'avx512f', 'avx512-vpopcntdq', 'vmx', 'spec-ctrl', 'kvmclock'];
  expect([...cpuTraits({ ...ofFeatures(...names), avx: false, vendor: 'GenuineIntel' })].sort()).toEqual([
    'HW_CPU_X86_AESNI',
    'HW_CPU_X86_AVX512F',
    'HW_CPU_X86_AVX512VPOPCNTDQ',
    'HW_CPU_X86_INTEL_SPEC_CTRL',
    'HW_CPU_X86_INTEL_VMX',
    'HW_CPU_X86_SSE',
    'HW_CPU_X86_SSE3',
    'HW_CPU_X86_SSE42',
    'HW_CPU_X86_VMX',
  ]);
  expect(cpuTraits({})).toEqual([]);
});

it('includes the features of the CPU that guests see', async () => {
  const files = { smt: file('smt'), firmware: [] };
  expect(await detectHostTraits(ofFeatures('avx'), files)).toEqual(
    expect.arrayContaining(['HW_CPU_X86_AVX', 'HW_CPU_HYPERTHREADING']),
  );
  expect(await detectHostTraits(ofFeatures('sse'), files)).not.toContain('HW_CPU_X86_AVX');
});

it('includes the TPMs that the installed emulator supports', async () => {
  const files = { smt: file('missing'), firmware: [] };
  const traits = async (...features: readonly string[]) => {
    const all = await detectHostTraits({}, { ...files, swtpm: { program: '/swtpm', features: new Set(features) } });
    return all.filter((trait) => trait.includes('TPM')).map((trait) => trait.replace('COMPUTE_SECURITY_TPM_', ''));
  };
  expect(await traits('tpm-1.2', 'tpm-2.0')).toEqual(['TIS', '1_2', '2_0', 'CRB']);
  expect(await traits('tpm-2.0')).toEqual(['TIS', '2_0', 'CRB']);
  expect(await traits('tpm-1.2')).toEqual(['TIS', '1_2']);
  expect((await detectHostTraits({}, files)).join()).not.toContain('TPM');
});

it('includes the firmware that is installed', async () => {
  const files = { smt: file('missing') };
  const bios = ['COMPUTE_ARCH_X86_64', 'COMPUTE_FIRMWARE_BIOS', 'HW_ARCH_X86_64'];
  expect(await detectHostTraits({}, { ...files, firmware: [] })).toEqual(bios);
  const plain = await firmware('plain', []);
  expect(await detectHostTraits({}, { ...files, firmware: [plain] })).toEqual([...bios, 'COMPUTE_FIRMWARE_UEFI']);
  const secure = await firmware('secure', ['secure-boot', 'enrolled-keys', 'requires-smm']);
  expect(await detectHostTraits({}, { ...files, firmware: [plain, secure] })).toEqual([
    ...bios,
    'COMPUTE_FIRMWARE_UEFI',
    'COMPUTE_SECURITY_UEFI_SECURE_BOOT',
  ]);
});
