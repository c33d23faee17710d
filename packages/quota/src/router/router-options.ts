import { type IncomingMessage, validateHeaderName } from 'node:http';
import {
  type HeaderNames,
  type HeaderPreset,
  type Negotiator,
  negotiator,
  type TrustProxy,
} from '@apistrata/microversion';
import { checkOptions } from '../check-options.js';
import type { ProjectQuotas } from '../project-quotas.js';
import type { IdentityOf } from './identity.js';

/** Options of `projectQuotaRouter()`. */
export interface ProjectQuotaRouterOptions {
  readonly quota: ProjectQuotas;
  /** Returns the caller of a request: `headerIdentity()` behind an authenticating proxy, or your own function. */
  readonly identity: IdentityOf;
  /** The role that `/v1/project-quotas` requires. Default `key-manager:service-admin`. */
  readonly adminRole?: string;
  /** `GET /v1/quotas` requires one of these roles. Default: none; every authenticated caller reads its own quotas. */
  readonly readerRoles?: readonly string[];
  /** The service type in version headers. Default `key-manager`. */
  readonly serviceType?: string;
  /** Names of the version headers: a preset, or your own names `{ typed: ['X-Api-Version'] }`. Default `service`. */
  readonly headers?: HeaderPreset | Partial<HeaderNames>;
  /**
   * Names of the request id header; a value that another middleware has set is kept. Default: that of the family of
   * version headers.
   */
  readonly requestIdHeaders?: readonly string[];
  /** The start of links, `https://quotas.example.org`. Default: from the request, where the router is mounted. */
  readonly publicUrl?: string;
  /** Whether links use `X-Forwarded-Proto`, `-Host` and `-Prefix`. Default: the setting of Express, otherwise false. */
  readonly trustProxy?: TrustProxy;
  /** URL of the identity service in `WWW-Authenticate` of a 401. Default: `/identity` on the same host. */
  readonly identityUrl?: string;
  /** Page size if the client sends no limit. Default 10. */
  readonly defaultLimit?: number;
  /** Maximum page size. Default 100. */
  readonly maxLimit?: number;
  /** Maximum size of the body of a PUT. Default 65,536. */
  readonly bodyLimitBytes?: number;
  /** Requests to other paths: passed to `next`, or 404 (`respond`). Default `next`; without a `next` always 404. */
  readonly otherPaths?: 'next' | 'respond';
  /** Called with errors that were returned as 500, or as 503 because the store is unavailable. */
  readonly onError?: (error: unknown, req: IncomingMessage) => void;
}

type Optional = 'readerRoles' | 'publicUrl' | 'trustProxy' | 'identityUrl';

/** The validated options with all defaults. */
export type RouterSettings = Required<Omit<ProjectQuotaRouterOptions, Optional | 'headers' | 'serviceType'>> &
  Pick<ProjectQuotaRouterOptions, Optional> & { readonly negotiate: Negotiator };

const DEFAULTS = {
  adminRole: 'key-manager:service-admin',
  serviceType: 'key-manager',
  headers: 'service',
  defaultLimit: 10,
  maxLimit: 100,
  bodyLimitBytes: 65_536,
  otherPaths: 'next',
  onError: () => undefined,
} as const;

const REQUEST_ID_HEADERS = {
  service: ['X-Service-Request-ID'],
  openstack: ['X-OpenStack-Request-ID'],
  both: ['X-Service-Request-ID', 'X-OpenStack-Request-ID'],
} as const satisfies Record<HeaderPreset, readonly string[]>;

/** The versions of this API; project quotas are the same in both. */
const VERSIONS = { min: '1.0', max: '1.1' } as const;

const KNOWN: Readonly<Record<keyof ProjectQuotaRouterOptions, true>> = {
  quota: true,
  identity: true,
  adminRole: true,
  readerRoles: true,
  serviceType: true,
  headers: true,
  requestIdHeaders: true,
  publicUrl: true,
  trustProxy: true,
  identityUrl: true,
  defaultLimit: true,
  maxLimit: true,
  bodyLimitBytes: true,
  otherPaths: true,
  onError: true,
};

export function routerSettings(options: ProjectQuotaRouterOptions): RouterSettings {
  checkOptions('projectQuotaRouter', options, KNOWN);
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { serviceType, headers, ...settings } = { ...DEFAULTS, ...given } as typeof DEFAULTS &
    ProjectQuotaRouterOptions;
  if (!settings.quota)
    throw new TypeError('projectQuotaRouter: a quota is needed: projectQuotas({ preset: "key-manager", store })');
  if (typeof settings.identity !== 'function') {
    throw new TypeError('projectQuotaRouter: identity must be a function, for example headerIdentity()');
  }
  if (settings.otherPaths !== 'next' && settings.otherPaths !== 'respond') {
    throw new TypeError('projectQuotaRouter: otherPaths must be "next" or "respond"');
  }
  for (const name of ['defaultLimit', 'maxLimit', 'bodyLimitBytes'] as const) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 1) {
      throw new TypeError(`projectQuotaRouter: ${name} must be an integer above 0`);
    }
  }
  const requestIdHeaders =
    settings.requestIdHeaders ?? REQUEST_ID_HEADERS[typeof headers === 'string' ? headers : 'service'];
  const negotiate = negotiator({ service: serviceType, headers, headerStyle: 'generic', ...VERSIONS });
  for (const name of requestIdHeaders) validateHeaderName(name);
  return { ...settings, requestIdHeaders, negotiate };
}
