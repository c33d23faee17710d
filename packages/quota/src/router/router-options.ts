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

/** What the project-quota API serves, and to whom. */
export interface ProjectQuotaRouterOptions {
  readonly quota: ProjectQuotas;
  /** Tells who sends a request: `headerIdentity()` behind an authenticating proxy, or a function of yours. */
  readonly identity: IdentityOf;
  /** The role that `/v1/project-quotas` needs. Default `key-manager:service-admin`. */
  readonly adminRole?: string;
  /** Roles one of which `GET /v1/quotas` needs. Default: none, every authenticated caller reads its own. */
  readonly readerRoles?: readonly string[];
  /** Under which name clients ask this service for a version. Default `key-manager`. */
  readonly serviceType?: string;
  /** Names of the version headers: a preset, or own names `{ typed: ['X-Api-Version'] }`. Default `service`. */
  readonly headers?: HeaderPreset | Partial<HeaderNames>;
  /** Names of the request id header; what another middleware answers in one is kept. Default: of the version headers' family. */
  readonly requestIdHeaders?: readonly string[];
  /** What links begin with, `https://quotas.example.org`. Default: from the request, where the router is mounted. */
  readonly publicUrl?: string;
  /** Whether `X-Forwarded-Proto`, `-Host` and `-Prefix` are believed for links. Default: what Express says, else false. */
  readonly trustProxy?: TrustProxy;
  /** Address of the identity service, which `WWW-Authenticate` of a 401 names. Default: `/identity` beside this service. */
  readonly identityUrl?: string;
  /** Entries of a page where the client names none. Default 10. */
  readonly defaultLimit?: number;
  /** Entries of a page at most. Default 100. */
  readonly maxLimit?: number;
  /** Largest body of a PUT. Default 65,536. */
  readonly bodyLimitBytes?: number;
  /** Paths that are not of this API: to `next`, or answered 404. Default `next`; without a `next` 404 in any case. */
  readonly otherPaths?: 'next' | 'answer';
  /** Sees what made an answer 500. */
  readonly onError?: (error: unknown, req: IncomingMessage) => void;
}

type Optional = 'readerRoles' | 'publicUrl' | 'trustProxy' | 'identityUrl';

/** Options with every default filled in. */
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

/** The versions this API has; what differs between them is outside of project quotas. */
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
  if (!settings.quota) throw new TypeError('projectQuotaRouter: a quota is needed: projectQuotas({ store })');
  if (typeof settings.identity !== 'function') {
    throw new TypeError('projectQuotaRouter: identity must be a function, for example headerIdentity()');
  }
  if (settings.otherPaths !== 'next' && settings.otherPaths !== 'answer') {
    throw new TypeError('projectQuotaRouter: otherPaths must be "next" or "answer"');
  }
  for (const name of ['defaultLimit', 'maxLimit', 'bodyLimitBytes'] as const) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 1) {
      throw new TypeError(`projectQuotaRouter: ${name} must be a whole number above 0`);
    }
  }
  const requestIdHeaders =
    settings.requestIdHeaders ?? REQUEST_ID_HEADERS[typeof headers === 'string' ? headers : 'service'];
  const negotiate = negotiator({ service: serviceType, headers, flavour: 'generic', ...VERSIONS });
  for (const name of requestIdHeaders) validateHeaderName(name);
  return { ...settings, requestIdHeaders, negotiate };
}
