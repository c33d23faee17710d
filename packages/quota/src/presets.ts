/** Names of the presets: `general`, or `key-manager` for the project-quota API of key management services. */
export type QuotaPresetName = 'general' | 'key-manager';

/** Defaults that belong together. */
export interface QuotaPreset {
  /** The kinds if the option `kinds` is not set; undefined: those with a default limit. */
  readonly kinds: readonly string[] | undefined;
  readonly errors: 'documented' | 'problem';
  readonly rateLimitHeaders: 'rejections' | 'never';
  /** Seconds for `Retry-After` while the store fails. */
  readonly retryAfterStoreError: number | undefined;
}

/** The kinds of the project-quota API. */
export const KINDS = ['secrets', 'orders', 'containers', 'consumers', 'cas'] as const;

const PRESETS: Readonly<Record<QuotaPresetName, QuotaPreset>> = {
  general: { kinds: undefined, errors: 'problem', rateLimitHeaders: 'rejections', retryAfterStoreError: 5 },
  'key-manager': { kinds: KINDS, errors: 'documented', rateLimitHeaders: 'never', retryAfterStoreError: undefined },
};

/** @throws TypeError if the preset is unknown */
export function presetOf(name: QuotaPresetName = 'general'): QuotaPreset {
  if (Object.hasOwn(PRESETS, name)) return PRESETS[name];
  throw new TypeError(`projectQuotas: unknown preset "${name}"; known are ${Object.keys(PRESETS).join(', ')}`);
}
