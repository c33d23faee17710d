import type { Check } from './check.js';
import type { HealthcheckErrorsOption } from './error-response.js';
import type { JsonFormat, PageLink, ServiceInfo } from './extras.js';
import type { HealthcheckLog } from './log.js';

/** An array of backend names, check names and checks, or a comma-separated string of names. */
export type BackendList = string | readonly (string | Check)[];

/** An additional endpoint, which can use the same checks. */
export interface GroupOptions {
  /** The exact path. Default `/livez`, `/readyz` and `/startupz` for `live`, `ready` and `startup`; other groups have none. */
  readonly path?: string;
  /** The checks that determine the state, as in the option `backends`. */
  readonly backends: BackendList;
  /** Whether the endpoint fails after `shutdown()`. Default: false for `live` and `startup`, true for other groups. */
  readonly failsOnShutdown?: boolean;
}

/** Options for `healthcheck()`. Lists are arrays or comma-separated strings. */
export interface HealthcheckOptions {
  /**
   * The exact path of the endpoint; requests to other paths are passed on. Default `/healthcheck`. If `path` is
   * `false`, or if it is omitted and the middleware has a mount path (`app.use('/status', healthcheck())`), the
   * endpoint responds to every request that reaches it.
   */
  readonly path?: string | false;
  /**
   * The checks that determine the state, in the order of the response: `disable_by_file`, `disable_by_files_ports`,
   * `enable_by_files`, the name of one of the `checks`, or a check. Default: none, so that the endpoint is always available.
   */
  readonly backends?: BackendList;
  /** Checks to which `backends` and `groups` can refer by name. */
  readonly checks?: readonly Check[];
  /** Additional endpoints; `live`, `ready` and `startup` have paths by default. */
  readonly groups?: Readonly<Record<string, GroupOptions>>;
  /** For `disable_by_file`: the path of a file. The endpoint is unavailable while the file exists. */
  readonly disableByFilePath?: string;
  /**
   * For `disable_by_files_ports`: `port:path` entries. The endpoint is unavailable on a port while the file for that
   * port exists.
   */
  readonly disableByFilePaths?: string | readonly string[];
  /** For `enable_by_files`: the paths of files. The endpoint is unavailable unless all of them exist. */
  readonly enableByFilePaths?: string | readonly string[];
  /**
   * Whether HTML and JSON responses contain the details of results, the state of the process, the stack traces of its threads and
   * its pending resources. Default false.
   */
  readonly detailed?: boolean;
  /**
   * Whether responses contain more than the documented format: the name of each check and, in detailed JSON and HTML,
   * its duration and the time of its last change, the runtime and its uptime, and the `service`. Default false.
   */
  readonly names?: boolean;
  /**
   * The format of JSON responses: `documented`; `status`, such as `{ "status": "ok" }`; or `health+json`, the format of the IETF
   * draft, which contains the names of checks. Default `documented`.
   */
  readonly format?: JsonFormat;
  /**
   * How an unavailable endpoint responds: with `documented`, the body depends on `Accept` and `format`; with `problem`
   * (RFC 9457), `json` and functions, it does not; `next` passes the error to your error handler. Default `documented`.
   */
  readonly errors?: HealthcheckErrorsOption;
  /**
   * Whether the service is ready when it starts. If false, the main endpoint and all groups with `failsOnShutdown` are
   * unavailable until `markReady()` is called. Default true.
   */
  readonly startsReady?: boolean;
  /** The name and version of this service, shown with `names`. Default: none. */
  readonly service?: ServiceInfo;
  /**
   * Links at the top of the HTML page. The first one is shown as the site name: `[{ href: './', text: 'Shop' }]`. Default:
   * none.
   */
  readonly links?: readonly PageLink[];
  /**
   * With `detailed`: whether every asynchronous resource is tracked from its creation, so that responses contain the
   * stack trace of each pending one. Tracking slows the whole process down; a process that frequently uses `await` may
   * become several times slower. Default false: responses list only the types of resources that keep the process
   * alive, with no overhead except while a response is built.
   */
  readonly trackResources?: boolean;
  /** With `trackResources`: whether pending promises are also tracked. Default true. */
  readonly trackPromises?: boolean;
  /**
   * Networks whose clients receive a response, identified by the remote address of the connection. Requests from other
   * networks are passed on. Default: all networks.
   */
  readonly allowedSourceRanges?: string | readonly string[];
  /** Whether requests with an `X-Forwarded...` header are passed on. Default false. */
  readonly ignoreProxiedRequests?: boolean;
  /** The logger for warnings and failures; `false` disables logging. Default `console`. */
  readonly log?: HealthcheckLog | false;
}

/** The names of all `healthcheck()` options. */
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
  'trackResources',
  'trackPromises',
  'allowedSourceRanges',
  'ignoreProxiedRequests',
  'log',
];
