import { type IncomingMessage, validateHeaderName } from 'node:http';
import { checkOptions } from '../check-options.js';
import type { ProjectQuotas } from '../project-quotas.js';
import type { IdentityOf } from './identity.js';

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
  /** Default `Service-API-Version`. */
  readonly versionHeader?: string;
  /** Default `X-Service-Request-ID`. What another middleware answers in it already is kept. */
  readonly requestIdHeader?: string;
  /** What links begin with, `https://quotas.example.org`. Default: from the request, where the router is mounted. */
  readonly publicUrl?: string;
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

export type RouterSettings = Required<Omit<ProjectQuotaRouterOptions, 'readerRoles' | 'publicUrl'>> &
  Pick<ProjectQuotaRouterOptions, 'readerRoles' | 'publicUrl'>;

const DEFAULTS = {
  adminRole: 'key-manager:service-admin',
  readerRoles: undefined,
  serviceType: 'key-manager',
  versionHeader: 'Service-API-Version',
  requestIdHeader: 'X-Service-Request-ID',
  publicUrl: undefined,
  defaultLimit: 10,
  maxLimit: 100,
  bodyLimitBytes: 65_536,
  otherPaths: 'next',
  onError: () => undefined,
} as const;

const KNOWN: Readonly<Record<keyof ProjectQuotaRouterOptions, true>> = {
  quota: true,
  identity: true,
  adminRole: true,
  readerRoles: true,
  serviceType: true,
  versionHeader: true,
  requestIdHeader: true,
  publicUrl: true,
  defaultLimit: true,
  maxLimit: true,
  bodyLimitBytes: true,
  otherPaths: true,
  onError: true,
};

export function routerSettings(options: ProjectQuotaRouterOptions): RouterSettings {
  checkOptions('projectQuotaRouter', options, KNOWN);
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings = { ...DEFAULTS, ...given } as unknown as RouterSettings;
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
  validateHeaderName(settings.versionHeader);
  validateHeaderName(settings.requestIdHeader);
  return settings;
}
