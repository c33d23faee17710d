import { describe, expect, it } from 'vitest';
import { parseCpuOptions } from './cpu-options.js';

describe('the chosen CPU', () => {
  it('is that of the host by default', () => {
    expect(parseCpuOptions('x', {})).toEqual({ mode: 'host-passthrough', model: undefined, changes: {} });
  });

  it('has features that are switched on and off', () => {
    const options = { cpuMode: 'custom', cpuModel: 'Haswell-noTSX', cpuFeatures: ['+PCID', 'aes', '-sse4_2'] } as const;
    expect(parseCpuOptions('x', options)).toEqual({
      mode: 'custom',
      model: 'Haswell-noTSX',
      changes: { pcid: true, aes: true, sse4_2: false },
    });
  });

  it.each([
    [{ cpuMode: 'host' }, "x: cpuMode must be host-passthrough, host-model or custom, not 'host'"],
    [{ cpuMode: 'custom' }, 'x: cpuMode custom requires cpuModel, such as x86-64-v2-AES'],
    [{ cpuModel: 'Nehalem' }, 'x: cpuModel requires cpuMode custom, not host-passthrough'],
    [{ cpuMode: 'host-model', cpuModel: 'Nehalem' }, 'x: cpuModel requires cpuMode custom, not host-model'],
    [{ cpuMode: 'custom', cpuModel: 'max' }, 'x: cpuModel max is not a model; use cpuMode host-passthrough'],
    [
      { cpuMode: 'custom', cpuModel: 'a,kvm=off' },
      "x: cpuModel must be the name of a CPU model, such as x86-64-v2-AES, not 'a,kvm=off'",
    ],
    [{ cpuFeatures: ['avx=on'] }, "x: cpuFeatures must contain CPU feature names, such as +aes or -avx2, not 'avx=on'"],
    [{ cpuFeatures: ['avx', '-AVX'] }, 'x: cpuFeatures switches avx both on and off'],
  ])('rejects %j', (options, message) => {
    expect(() => parseCpuOptions('x', options as object)).toThrow(new TypeError(message));
  });
});
