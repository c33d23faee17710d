/** Who is calling, as the identity service knows them. */
export interface Caller {
  readonly userId: string;
  readonly projectId: string;
  /** Names of roles, for policies to judge; the engine itself reads nothing from them. */
  readonly roles: readonly string[];
  /**
   * Whether the caller counts as an administrator of the whole system. The API's policies decide (`context_is_admin`),
   * whatever an identity says. Default: no.
   */
  readonly isAdmin?: boolean;
  readonly userName?: string;
  readonly projectName?: string;
  readonly userDomainId?: string;
  readonly projectDomainId?: string;
  readonly systemScope?: boolean;
  readonly token?: string;
  /** Roles of the service that forwards the call, when one does. */
  readonly serviceRoles?: readonly string[];
}
