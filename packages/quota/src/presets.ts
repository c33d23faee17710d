/** The names of the presets: `general`, and `key-manager` for the project-quota API of key management services. */
export type QuotaPresetName = 'general' | 'key-manager';

/** The default options that a preset defines. */
export interface QuotaPreset {
  /** The default of the option `kinds`; undefined: the kinds that have a default limit. */
  readonly kinds: readonly string[] | undefined;
  readonly errors: 'documented' | 'problem';
  readonly rateLimitHeaders: 'rejections' | 'never';
  /** The value of the `Retry-After` header while the store is unavailable, in seconds; undefined for no header. */
  readonly retryAfterStoreError: number | undefined;
}

/** The resource kinds of the project-quota API. */
export const KEY_MANAGER_KINDS = ['secrets', 'orders', 'containers', 'consumers', 'cas'] as const;

const PRESETS: Readonly<Record<QuotaPresetName, QuotaPreset>> = {
  general: { kinds: undefined, errors: 'problem', rateLimitHeaders: 'rejections', retryAfterStoreError: 5 },
  'key-manager': {
    kinds: KEY_MANAGER_KINDS,
    errors: 'documented',
    rateLimitHeaders: 'never',
    retryAfterStoreError: undefined,
  },
};

/** Returns the preset with a name. @throws TypeError if the name is unknown */
export function presetOf(name: QuotaPresetName = 'general'): QuotaPreset {
  if (Object.hasOwn(PRESETS, name)) return PRESETS[name];
  throw new TypeError(`projectQuotas: unknown preset "${name}"; known presets: ${Object.keys(PRESETS).join(', ')}`);
}
