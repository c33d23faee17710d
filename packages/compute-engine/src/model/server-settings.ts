/**
 * Fields of a server that clients set and that the engine stores unchanged. Each field in this file, with its default,
 * is part of `Server`, of requests to create and rebuild servers, and of the filters and sort keys of lists.
 */
export interface ServerSettings {
  readonly description: string | null;
  /** The user data in base64, as received. */
  readonly userData: string | null;
  /** IPv4 address for access to the server; empty if none. */
  readonly accessIpV4: string;
  readonly accessIpV6: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  /** Ids of the certificates that validate the image's signature. */
  readonly trustedCerts: readonly string[] | null;
}

/** Default values, which also apply to servers that were stored before a field existed. */
export const serverDefaults: ServerSettings = {
  description: null,
  userData: null,
  accessIpV4: '',
  accessIpV6: '',
  metadata: {},
  tags: [],
  trustedCerts: null,
};

/** Returns the settings that a request contains; omitted fields stay omitted. */
export function settingsIn(request: Partial<ServerSettings>): Partial<ServerSettings> {
  const settings: { -readonly [K in keyof ServerSettings]?: unknown } = {};
  for (const name of names) if (request[name] !== undefined) settings[name] = request[name];
  return settings as Partial<ServerSettings>;
}

const names = Object.keys(serverDefaults) as (keyof ServerSettings)[];

type Settings = keyof ServerSettings;

/** Settings whose value is a string. */
export type StringSetting = { [K in Settings]: ServerSettings[K] extends string | null ? K : never }[Settings];
