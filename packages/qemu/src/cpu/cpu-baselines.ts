import type { FeatureChanges } from './cpu-options.js';

/** The QEMU model that the baselines extend. The baselines disable nested virtualization, which differs by vendor. */
export const BASELINE_MODEL = 'qemu64';

const enableFeatures = (...names: readonly string[]): FeatureChanges =>
  Object.fromEntries(names.map((name) => [name, true]));

const V2: FeatureChanges = { ...enableFeatures('popcnt', 'ssse3', 'sse4.1', 'sse4.2'), svm: false };
const V2_AES: FeatureChanges = { ...V2, aes: true };
const V3: FeatureChanges = {
  ...V2_AES,
  ...enableFeatures('abm', 'avx', 'avx2', 'bmi1', 'bmi2', 'f16c', 'fma', 'movbe', 'xsave'),
};
const V4: FeatureChanges = { ...V3, ...enableFeatures('avx512bw', 'avx512cd', 'avx512dq', 'avx512f', 'avx512vl') };

/**
 * CPU models that QEMU does not define: the x86-64 ABI levels, which many different processors support.
 */
export const BASELINES: Readonly<Record<string, FeatureChanges>> = {
  'x86-64-v2': V2,
  'x86-64-v2-AES': V2_AES,
  'x86-64-v3': V3,
  'x86-64-v4': V4,
};
