import { validateHeaderName } from 'node:http';

/** Names of the headers that carry a version, in the order they are looked at. */
export interface HeaderNames {
  /** Headers of the form `<service type> <version>`. All of them are looked at before the bare ones. */
  readonly typed: readonly string[];
  /** Headers of the form `<version>`. */
  readonly bare: readonly string[];
}

/** Names by family: of the service documents, of existing OpenStack clients (of compute), or both at once. */
export type HeaderPreset = 'service' | 'openstack' | 'both';

const SERVICE: HeaderNames = { typed: ['Service-API-Version'], bare: ['X-Service-API-Version'] };
const OPENSTACK: HeaderNames = { typed: ['OpenStack-API-Version'], bare: ['X-OpenStack-Nova-API-Version'] };

const PRESETS: Readonly<Record<HeaderPreset, HeaderNames>> = {
  service: SERVICE,
  openstack: OPENSTACK,
  both: { typed: [...SERVICE.typed, ...OPENSTACK.typed], bare: [...SERVICE.bare, ...OPENSTACK.bare] },
};

/** The names behind a preset, or the caller's own, checked. Throws a TypeError that names the cure. */
export function headerNamesFrom(headers: HeaderPreset | Partial<HeaderNames>): HeaderNames {
  if (typeof headers === 'string') {
    if (Object.hasOwn(PRESETS, headers)) return PRESETS[headers];
    throw new TypeError(`microversion: no header preset '${headers}', there are ${Object.keys(PRESETS).join(', ')}`);
  }
  for (const key of Object.keys(headers)) {
    if (key !== 'typed' && key !== 'bare')
      throw new TypeError(`microversion: unknown kind of header '${key}', write { typed: [...], bare: [...] }`);
  }
  const names = { typed: [...(headers.typed ?? [])], bare: [...(headers.bare ?? [])] };
  for (const name of [...names.typed, ...names.bare]) validateHeaderName(name);
  if (names.typed.length + names.bare.length === 0)
    throw new TypeError("microversion: name at least one header, as in headers: { typed: ['My-API-Version'] }");
  return names;
}
