/** A request that an application credential permits. */
export interface AccessRule {
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** The path pattern. `*` and `{name}` match a path segment or a part of one; `**` matches any characters. */
  readonly path: string;
  /** The service type in the identity service's catalog, such as `compute`. */
  readonly service: string;
}

/** The authenticated sender of a request, as reported by the identity service. */
export interface Caller {
  readonly userId: string;
  readonly projectId: string;
  /** The role names, which policies check. The engine itself does not use role names. */
  readonly roles: readonly string[];
  /**
   * Whether the caller is an administrator of the whole system. Default: false. The compute API's policy rule
   * `context_is_admin` overrides this value.
   */
  readonly isAdmin?: boolean;
  readonly userName?: string;
  readonly projectName?: string;
  readonly userDomainId?: string;
  readonly projectDomainId?: string;
  readonly systemScope?: boolean;
  readonly token?: string;
  /** The roles of the service that forwards the request. Undefined if the client sent the request directly. */
  readonly serviceRoles?: readonly string[];
  /** The only requests that the token's application credential permits. Default: all requests. */
  readonly accessRules?: readonly AccessRule[];
}
