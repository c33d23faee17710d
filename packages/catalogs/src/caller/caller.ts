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
}
