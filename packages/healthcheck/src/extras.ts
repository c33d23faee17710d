import type { ServerReport } from './detailed/server-report.js';

/** What JSON responses look like. */
export type JsonFormat = 'documented' | 'status' | 'health+json' | 'problem';

/** The service that an endpoint reports on. */
export interface ServiceInfo {
  readonly name?: string;
  readonly version?: string;
}

/** What a body shows besides the results. */
export interface Extras {
  /** Given where the endpoint is detailed. */
  readonly server?: ServerReport;
  /** Given where the endpoint names its checks, with the service that it belongs to. */
  readonly named?: ServiceInfo;
  /** What JSON looks like. */
  readonly format?: JsonFormat;
}
