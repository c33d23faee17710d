import { validateHeaderName } from 'node:http';

/** Names of the headers that contain a version, in the order in which they are read. */
export interface HeaderNames {
  /** Headers with values such as `compute 2.27`. They are read before the bare headers. */
  readonly typed: readonly string[];
  /** Headers with values such as `2.27`. */
  readonly bare: readonly string[];
}

/**
 * A preset of header names: `service` has the names in the API reference, `openstack` those that existing OpenStack
 * clients send to the compute API, `both` has all of them.
 */
export type HeaderPreset = 'service' | 'openstack' | 'both';

const SERVICE_NAMES: HeaderNames = { typed: ['Service-API-Version'], bare: ['X-Service-API-Version'] };
const OPENSTACK_NAMES: HeaderNames = { typed: ['OpenStack-API-Version'], bare: ['X-OpenStack-Nova-API-Version'] };

const PRESETS: Readonly<Record<HeaderPreset, HeaderNames>> = {
  service: SERVICE_NAMES,
  openstack: OPENSTACK_NAMES,
  both: {
    typed: [...SERVICE_NAMES.typed, ...OPENSTACK_NAMES.typed],
    bare: [...SERVICE_NAMES.bare, ...OPENSTACK_NAMES.bare],
  },
};

/** Returns the header names of a preset, or validated custom names. @throws TypeError if a preset or name is invalid */
export function headerNamesFrom(headers: HeaderPreset | Partial<HeaderNames>): HeaderNames {
  if (typeof headers === 'string') {
    if (Object.hasOwn(PRESETS, headers)) return PRESETS[headers];
    throw new TypeError(`microversion: unknown header preset '${headers}' (known: ${Object.keys(PRESETS).join(', ')})`);
  }
  for (const key of Object.keys(headers)) {
    if (key !== 'typed' && key !== 'bare')
      throw new TypeError(`microversion: unknown kind of header '${key}': write { typed: [...], bare: [...] }`);
  }
  const names = { typed: [...(headers.typed ?? [])], bare: [...(headers.bare ?? [])] };
  for (const name of [...names.typed, ...names.bare]) validateHeaderName(name);
  if (names.typed.length + names.bare.length === 0)
    throw new TypeError("microversion: name at least one header, as in headers: { typed: ['My-API-Version'] }");
  return names;
}
