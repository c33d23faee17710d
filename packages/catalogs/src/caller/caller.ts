/** A request that an application credential may send. */
export interface AccessRule {
  /** In upper case. */
  readonly method: string;
  /** A pattern: `*` and `{name}` match a segment or a part of it, `**` matches any characters. */
  readonly path: string;
  /** Type of the service in the catalog: `compute`. */
  readonly service: string;
}

/** The caller of a request, as the identity service identifies them. */
export interface Caller {
  readonly userId: string;
  readonly projectId: string;
  /** Names of roles, for policies; the engine itself does not use them. */
  readonly roles: readonly string[];
  /**
   * Whether the caller is an administrator of the whole system. The API's policies decide (`context_is_admin`) and
   * override the identity. Default: false.
   */
  readonly isAdmin?: boolean;
  readonly userName?: string;
  readonly projectName?: string;
  readonly userDomainId?: string;
  readonly projectDomainId?: string;
  readonly systemScope?: boolean;
  readonly token?: string;
  /** Roles of the service that forwards the request, if any. */
  readonly serviceRoles?: readonly string[];
  /** The only requests that the application credential of the token may send. Default: all. */
  readonly accessRules?: readonly AccessRule[];
}
