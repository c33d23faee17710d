import { describe, expect, it } from 'vitest';
import { fulfills } from './capabilities.js';

describe('a requirement', () => {
  it.each([
    ['QEMU', 'QEMU'],
    ['QEMU', 's== QEMU'],
    ['QEMU', 's!= KVM'],
    ['abc', 's< abd'],
    ['abc', 's>= abc'],
    ['2048', '= 1024'],
    ['2048', '>= 2048'],
    ['2048', '<= 2048.0'],
    ['2048', '== 2048'],
    ['2048', '!= 1'],
    ["['pge', 'clflush']", '<in> pge'],
    ["['pge', 'clflush']", '<all-in> pge clflush'],
    ['b', '<or> a <or> b'],
    ['4', ' >=   3 '],
  ])('is fulfilled by %s: %s', (value, requirement) => {
    expect(fulfills(value, requirement)).toBe(true);
  });

  it.each([
    ['QEMU', 'KVM'],
    ['QEMU', 's== qemu'],
    ['1023', '= 1024'],
    ['1023', '>= 1024'],
    ['text', '>= 1'],
    ['text', '!= 1'],
    ['', '== 0'],
    ['1', '>= '],
    ['c', '<or> a <or> b'],
    ['<or>', '<or> a <or> b'],
    ["['pge']", '<all-in> pge clflush'],
    ['1', '<in>'],
    ['2', '> 1'],
  ])('is not fulfilled by %s: %s', (value, requirement) => {
    expect(fulfills(value, requirement)).toBe(false);
  });
});
