import type { Check } from './check.js';
import type { JsonFormat, ServiceInfo } from './extras.js';
import type { HealthcheckLog } from './log.js';

/** Names of backends and checks, or checks themselves; or the names as comma-separated text. */
export type BackendList = string | readonly (string | Check)[];

/** One more endpoint over the same checks. */
export interface GroupOptions {
  /** Answered at exactly this path. Default `/livez`, `/readyz` and `/startupz`; other groups have none unless given. */
  readonly path?: string;
  /** Which checks decide, as in the option `backends`. */
  readonly backends: BackendList;
  /** True: fails from `shutdown()` on. Default: false for `live` and `startup`, true for the others. */
  readonly failsOnShutdown?: boolean;
}

/** Options of `healthcheck()`. List options are arrays or comma-separated text. */
export interface HealthcheckOptions {
  /**
   * Answers exactly this full path and hands every other one on. Default `/healthcheck`; left out and mounted below a
   * prefix (`app.use('/status', healthcheck())`), or `false`: answers whatever reaches it.
   */
  readonly path?: string | false;
  /**
   * What decides, in the order of the answer: `disable_by_file`, `disable_by_files_ports`, `enable_by_files`, the name
   * of one of the `checks`, or a check. Default: nothing, which is always healthy.
   */
  readonly backends?: BackendList;
  /** Checks that `backends` and `groups` may name. */
  readonly checks?: readonly Check[];
  /** Further endpoints; `live`, `ready` and `startup` have paths by default. */
  readonly groups?: Readonly<Record<string, GroupOptions>>;
  /** For `disable_by_file`: unavailable while something exists at this path. */
  readonly disableByFilePath?: string;
  /** For `disable_by_files_ports`: entries `port:path`; unavailable on that port while something exists at the path. */
  readonly disableByFilePaths?: string | readonly string[];
  /** For `enable_by_files`: unavailable until all of these exist. */
  readonly enableByFilePaths?: string | readonly string[];
  /** HTML and JSON answers show details, the process, its threads and pending resources. Default false. */
  readonly detailed?: boolean;
  /**
   * Shows more than the documented format: in JSON, text and HTML the name of each check; in detailed JSON and HTML also
   * its duration, its last change, the runtime, and the `service`. Default false.
   */
  readonly names?: boolean;
  /**
   * What JSON responses look like: `documented`; `status`, `{ "status": "ok" }`; `health+json`, the IETF draft, which names the
   * checks; or `problem`, a problem document (RFC 9457) while the endpoint is unavailable. Default `documented`.
   */
  readonly format?: JsonFormat;
  /** False: the endpoints that fail on shutdown are unavailable until `markReady()`. Default true. */
  readonly startsReady?: boolean;
  /** The name and version of this service, shown with `names`. Default: none. */
  readonly service?: ServiceInfo;
  /**
   * With `detailed`: follows every asynchronous resource from its creation, so that answers tell where each one that is
   * pending was made. This slows the whole process down, several times where it awaits much. Default false: answers list
   * what keeps the process alive, by type, and cost nothing in between.
   */
  readonly followResources?: boolean;
  /** With `followResources`: pending promises are followed, too. Default true. */
  readonly detailedPromises?: boolean;
  /** Networks whose peers get an answer, by the address of the connection; others are handed on. Default: everybody. */
  readonly allowedSourceRanges?: string | readonly string[];
  /** Hands requests with an `X-Forwarded...` header on. Default false. */
  readonly ignoreProxiedRequests?: boolean;
  /** Where warnings and failures go; `false` for nowhere. Default `console`. */
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
  'startsReady',
  'service',
  'followResources',
  'detailedPromises',
  'allowedSourceRanges',
  'ignoreProxiedRequests',
  'log',
];
