import type { ServerReport } from './detailed/server-report.js';

/** The format of JSON responses. */
export type JsonFormat = 'documented' | 'status' | 'health+json';

/** The service whose health an endpoint reports. */
export interface ServiceInfo {
  readonly name?: string;
  readonly version?: string;
}

/** A link at the top of the HTML page. */
export interface PageLink {
  /** A path, relative to the page, or a URL. */
  readonly href: string;
  readonly text: string;
}

/** Content of a response in addition to the check results. */
export interface ResponseExtras {
  /** The state of the process, if the endpoint is detailed. */
  readonly server?: ServerReport;
  /** The service to which the endpoint belongs, if responses contain the names of checks. */
  readonly named?: ServiceInfo;
  /** The format of JSON responses. */
  readonly format?: JsonFormat;
  /** The links at the top of the HTML page. */
  readonly links?: readonly PageLink[];
}
