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

/** Options for `projectQuotaRouter()`. */
export interface ProjectQuotaRouterOptions {
  readonly quota: ProjectQuotas;
  /** Returns the caller of a request: `headerIdentity()` behind an authenticating proxy, or a custom function. */
  readonly identity: IdentityOf;
  /** The role that `/v1/project-quotas` requires. Default `key-manager:service-admin`. */
  readonly adminRole?: string;
  /** The roles that can use `GET /v1/quotas`. Default: every authenticated caller can read the quotas of its project. */
  readonly readerRoles?: readonly string[];
  /** The service type in version headers. Default `key-manager`. */
  readonly serviceType?: string;
  /** Names of the version headers: a preset, or custom names such as `{ typed: ['X-Api-Version'] }`. Default `service`. */
  readonly headers?: HeaderPreset | Partial<HeaderNames>;
  /**
   * Names of the response headers that contain the request id. Values that other middleware has set are preserved.
   * Default: depends on the preset of version headers.
   */
  readonly requestIdHeaders?: readonly string[];
  /** The base URL of links, such as `https://quotas.example.org`. Default: the request URL up to the mount path. */
  readonly publicUrl?: string;
  /**
   * Whether links are built from `X-Forwarded-Proto`, `-Host` and `-Prefix`. Default: Express's `trust proxy` setting;
   * false without Express.
   */
  readonly trustProxy?: TrustProxy;
  /**
   * The URL of the identity service, which 401 responses contain in `WWW-Authenticate`. Default: `/identity` on the
   * same host.
   */
  readonly identityUrl?: string;
  /** Page size if the client does not specify a limit. Default 10. */
  readonly defaultLimit?: number;
  /** Maximum page size. Default 100. */
  readonly maxLimit?: number;
  /** Maximum size of a request body in bytes. Default 65,536. */
  readonly bodyLimitBytes?: number;
  /** Whether requests to other paths are passed to `next` or rejected with 404 (`respond`). Without `next`, always 404. Default `next`. */
  readonly otherPaths?: 'next' | 'respond';
  /** Called with errors that result in a 500 response, or in a 503 because the store is unavailable. */
  readonly onError?: (error: unknown, req: IncomingMessage) => void;
}

type OptionalOption = 'readerRoles' | 'publicUrl' | 'trustProxy' | 'identityUrl';

/** The validated options with all defaults. */
export type RouterSettings = Required<Omit<ProjectQuotaRouterOptions, OptionalOption | 'headers' | 'serviceType'>> &
  Pick<ProjectQuotaRouterOptions, OptionalOption> & { readonly negotiate: Negotiator };

const DEFAULT_OPTIONS = {
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

/** The lowest and highest version of this API. Project quotas are the same in both versions. */
const VERSIONS = { min: '1.0', max: '1.1' } as const;

export const ROUTER_OPTIONS: Readonly<Record<keyof ProjectQuotaRouterOptions, true>> = {
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

/** Validates options and adds defaults. @throws TypeError if an option is unknown or invalid */
export function routerSettings(options: ProjectQuotaRouterOptions): RouterSettings {
  checkOptions('projectQuotaRouter', options, ROUTER_OPTIONS);
  const definedOptions = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { serviceType, headers, ...settings } = { ...DEFAULT_OPTIONS, ...definedOptions } as typeof DEFAULT_OPTIONS &
    ProjectQuotaRouterOptions;
  if (!settings.quota)
    throw new TypeError('projectQuotaRouter: a quota is required: projectQuotas({ preset: "key-manager", store })');
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
