import { defaultSettings, type QuotaKind, type Settings } from '@apistrata/compute-engine';
import type { Options } from './options.js';

/** Returns the engine settings from `--setting` and `--quota`. */
export function settingsFrom({ setting, quota }: Options): Partial<Settings> {
  const computeQuotas = Object.entries(quota).filter(([name]) => !name.startsWith('quota_'));
  const quotas = {
    ...defaultSettings.quotas,
    ...(Object.fromEntries(computeQuotas) as Partial<Record<QuotaKind, number>>),
  };
  return { ...setting, quotas };
}
