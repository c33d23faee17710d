import {
  type DatabaseSettings,
  defaultDatabaseSettings,
  defaultSettings,
  type QuotaKind,
  quotaKinds,
  type Settings,
} from '@apistrata/compute-engine';
import type { GuardLimits } from '@apistrata/healthcheck/server';
import { type Options, oneOf, pairs, StartError } from './options.js';

/** A text as the kind of value that the default is. */
function likeDefault(option: string, name: string, text: string, fallback: unknown): unknown {
  if (typeof fallback === 'number') {
    if (!/^-?\d+(\.\d+)?$/.test(text)) throw new StartError(`--${option} ${name}=${text}: it takes a number`);
    return Number(text);
  }
  if (typeof fallback === 'boolean') {
    if (text !== 'true' && text !== 'false')
      throw new StartError(`--${option} ${name}=${text}: it takes true or false`);
    return text === 'true';
  }
  return text;
}

/** The engine's settings out of `--setting` and `--quota`. Throws {@link StartError} for names there are none of. */
export function readSettings({ lists }: Options): Partial<Settings> {
  const { quotas: _, ...defaults } = defaultSettings;
  const changed = pairs('setting', lists.setting).map(([name, text]) => {
    if (!Object.hasOwn(defaults, name))
      throw new StartError(`--setting ${name}: there is ${Object.keys(defaults).join(', ')}`);
    return [name, likeDefault('setting', name, text, defaults[name as keyof typeof defaults])];
  });
  return { ...Object.fromEntries(changed), quotas: { ...defaultSettings.quotas, ...limitsFrom(lists.quota) } };
}

/** How the database is used, out of `--durability` and `--database`. The engine says which values cannot be. */
export function readDatabaseSettings({ durability, lists }: Options): Partial<DatabaseSettings> {
  const { durability: _, ...limits } = defaultDatabaseSettings;
  const changed = pairs('database', lists.database).map(([name, text]) => {
    if (!Object.hasOwn(limits, name))
      throw new StartError(`--database ${name}: there is ${Object.keys(limits).join(', ')}`);
    if (!/^\d+$/.test(text)) throw new StartError(`--database ${name}=${text}: it takes a whole number`);
    return [name, Number(text)];
  });
  return { ...Object.fromEntries(changed), durability: oneOf('durability', durability!, ['disk', 'process']) };
}

function limitsFrom(texts: readonly string[]): Partial<Record<QuotaKind, number>> {
  const compute = pairs('quota', texts).filter(([name]) => !name.startsWith('quota_'));
  return Object.fromEntries(
    compute.map(([name, text]) => {
      if (!quotaKinds.includes(name as QuotaKind))
        throw new StartError(`--quota ${name}: there is ${quotaKinds.join(', ')}`);
      if (!/^-?\d+$/.test(text) || Number(text) < -1)
        throw new StartError(`--quota ${name}=${text}: it takes -1 (no limit) or more`);
      return [name, Number(text)];
    }),
  );
}

/** The limits of the project quotas: `--quota quota_secrets=10` and the like. */
export function projectLimits({ lists }: Options): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs('quota', lists.quota).filter(([name]) => name.startsWith('quota_')));
}

/** The limits of connections: `--limit maxConnections=500` and the like. */
export function connectionLimits({ lists }: Options): GuardLimits {
  return Object.fromEntries(
    pairs('limit', lists.limit).map(([name, text]) => [name, likeDefault('limit', name, text, 0)]),
  );
}
