/**
 * What clients set on a server and the engine keeps as it was given. A field that stands here, with its default, is part of
 * `Server`, of requests to create and to rebuild servers, and of what lists can be filtered and sorted by.
 */
export interface ServerSettings {
  readonly description: string | null;
  /** In base64, as it was given. */
  readonly userData: string | null;
  /** Addresses to tell for access; empty for none. */
  readonly accessIpV4: string;
  readonly accessIpV6: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  /** Ids of the certificates that the image's signature is checked with. */
  readonly trustedCerts: readonly string[] | null;
}

/** What holds where nobody has set anything, and for servers that were stored before there was the field. */
export const serverDefaults: ServerSettings = {
  description: null,
  userData: null,
  accessIpV4: '',
  accessIpV6: '',
  metadata: {},
  tags: [],
  trustedCerts: null,
};

/** The settings that a request makes; what it leaves out is left out here. */
export function settingsIn(request: Partial<ServerSettings>): Partial<ServerSettings> {
  const settings: { -readonly [K in keyof ServerSettings]?: unknown } = {};
  for (const name of names) if (request[name] !== undefined) settings[name] = request[name];
  return settings as Partial<ServerSettings>;
}

const names = Object.keys(serverDefaults) as (keyof ServerSettings)[];

type Settings = keyof ServerSettings;

/** Settings that are one text. */
export type TextSetting = { [K in Settings]: ServerSettings[K] extends string | null ? K : never }[Settings];
