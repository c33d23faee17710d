import type { Check } from './check.js';
import type { HealthcheckErrorsOption } from './error-response.js';
import type { JsonFormat, PageLink, ServiceInfo } from './extras.js';
import type { HealthcheckLog } from './log.js';

/** Names of backends and checks, or checks themselves; or the names as comma-separated text. */
export type BackendList = string | readonly (string | Check)[];

/** An additional endpoint over the same checks. */
export interface GroupOptions {
  /** The exact path. Default `/livez`, `/readyz` and `/startupz`; other groups have no default. */
  readonly path?: string;
  /** The checks that decide, as in the option `backends`. */
  readonly backends: BackendList;
  /** Whether it fails after `shutdown()`. Default: false for `live` and `startup`, true for the others. */
  readonly failsOnShutdown?: boolean;
}

/** Options of `healthcheck()`. List options are arrays or comma-separated text. */
export interface HealthcheckOptions {
  /**
   * The exact path of the endpoint; requests to other paths are passed on. Default `/healthcheck`. With `false`, or
   * without a path and mounted below a prefix (`app.use('/status', healthcheck())`), it responds to every request that
   * reaches it.
   */
  readonly path?: string | false;
  /**
   * The checks that determine the state, in the order of the response: `disable_by_file`, `disable_by_files_ports`,
   * `enable_by_files`, the name of one of the `checks`, or a check. Default: none, which is always healthy.
   */
  readonly backends?: BackendList;
  /** Checks that `backends` and `groups` may name. */
  readonly checks?: readonly Check[];
  /** Additional endpoints; `live`, `ready` and `startup` have paths by default. */
  readonly groups?: Readonly<Record<string, GroupOptions>>;
  /** For `disable_by_file`: unavailable while something exists at this path. */
  readonly disableByFilePath?: string;
  /** For `disable_by_files_ports`: entries `port:path`; unavailable on that port while something exists at the path. */
  readonly disableByFilePaths?: string | readonly string[];
  /** For `enable_by_files`: unavailable until all of these exist. */
  readonly enableByFilePaths?: string | readonly string[];
  /** Whether HTML and JSON responses contain details, the process, its threads and pending resources. Default false. */
  readonly detailed?: boolean;
  /**
   * Whether responses contain more than the documented format: in JSON, text and HTML, the name of each check; in
   * detailed JSON and HTML also its duration, its last change, the runtime, and the `service`. Default false.
   */
  readonly names?: boolean;
  /**
   * The format of JSON responses: `documented`; `status`, `{ "status": "ok" }`; or `health+json`, the IETF draft, which
   * names the checks. Default `documented`.
   */
  readonly format?: JsonFormat;
  /**
   * How an endpoint that is unavailable responds: `documented`, by `Accept` and `format`; `problem` (RFC 9457), `json`, or a
   * function, regardless of `Accept`; or `next` for your error handler. Default `documented`.
   */
  readonly errors?: HealthcheckErrorsOption;
  /** False: the endpoints that fail on shutdown are unavailable until `markReady()`. Default true. */
  readonly startsReady?: boolean;
  /** The name and version of this service, shown with `names`. Default: none. */
  readonly service?: ServiceInfo;
  /**
   * Links at the top of the HTML page; the first one is the name of the site: `[{ href: './', text: 'Shop' }]`.
   * Default: none.
   */
  readonly links?: readonly PageLink[];
  /**
   * With `detailed`: tracks every asynchronous resource from its creation, so that responses contain the stack trace of
   * each pending one. This slows the whole process down, several times if it awaits often. Default false: responses list
   * the types of resources that keep the process alive, without cost between responses.
   */
  readonly followResources?: boolean;
  /** With `followResources`: whether pending promises are also tracked. Default true. */
  readonly detailedPromises?: boolean;
  /**
   * Networks whose clients get a response, by the address of the connection; other requests are passed on. Default:
   * all.
   */
  readonly allowedSourceRanges?: string | readonly string[];
  /** Whether requests with an `X-Forwarded...` header are passed on. Default false. */
  readonly ignoreProxiedRequests?: boolean;
  /** The receiver of warnings and failures; `false` for none. Default `console`. */
  readonly log?: HealthcheckLog | false;
}

/** The names of all options. */
export const OPTION_NAMES: readonly (keyof HealthcheckOptions)[] = [
  'path',
  'backends',
  'checks',
  'groups',
  'disableByFilePath',
  'disableByFilePaths',
  'enableByFilePaths',
  'detailed',
  'names',
  'format',
  'errors',
  'startsReady',
  'service',
  'links',
  'followResources',
  'detailedPromises',
  'allowedSourceRanges',
  'ignoreProxiedRequests',
  'log',
];
