import { describe, expect, it } from 'vitest';
import { cpuArgument, featuresOf, type GuestCpu, validateCpu } from './guest-cpu.js';

const NEHALEM: GuestCpu = {
  mode: 'custom',
  model: 'Nehalem',
  properties: { aes: true, popcnt: false },
  visible: { vendor: 'GenuineIntel', family: 6, aes: true },
};

describe('the CPU of a guest', () => {
  it('is passed to QEMU with the flag that forbids dropping features', () => {
    expect(cpuArgument(NEHALEM, ['kvm=off'])).toBe('Nehalem,aes=on,popcnt=off,enforce,kvm=off');
    const spelled = { model: 'base', properties: { family: 6, 'model-id': 'QEMU CPU', aes: true }, visible: null };
    expect(cpuArgument({ mode: 'host-model', ...spelled })).toBe('base,family=6,model-id=QEMU CPU,aes=on,enforce');
  });

  it('is passed to QEMU without properties if it is the CPU of the host', () => {
    expect(cpuArgument({ mode: 'host-passthrough', model: 'host', properties: {}, visible: null })).toBe('host');
  });

  it('lists its features', () => {
    expect(featuresOf({ vendor: 'GenuineIntel', 'sse4.2': true, aes: true, avx: false })).toEqual(['aes', 'sse4.2']);
  });

  it('is accepted from another host', () => {
    expect(validateCpu(JSON.parse(JSON.stringify(NEHALEM)))).toEqual(NEHALEM);
    expect(validateCpu({ ...NEHALEM, visible: null }).visible).toBeNull();
  });

  it.each([
    ['mode', 'other'],
    ['model', 'Nehalem,kvm=off'],
    ['properties', { 'a,b': true }],
    ['properties', { 'model-id': 'x,kvm=off' }],
    ['properties', { 'model-id': 'x\n' }],
    ['properties', { family: 1.5 }],
    ['properties', null],
    ['visible', { aes: {} }],
  ])('is rejected from another host with a malformed %s: %j', (name, value) => {
    expect(() => validateCpu({ ...NEHALEM, [name]: value })).toThrow('malformed CPU "Nehalem');
  });
});
