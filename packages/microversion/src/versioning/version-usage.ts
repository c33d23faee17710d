/** How often one client has used one version. */
export interface ClientUsage {
  readonly client: string;
  readonly requests: number;
  /** When the last request arrived. */
  readonly lastSeen: Date;
}

/** How often one version was used. */
export interface VersionUsage {
  readonly version: string;
  readonly requests: number;
  /** The number of requests that did not specify a version. */
  readonly withoutVersion: number;
  readonly lastSeen: Date;
  /** The clients that used the version, most requests first. Empty without the option `client`. */
  readonly clients: readonly ClientUsage[];
}
