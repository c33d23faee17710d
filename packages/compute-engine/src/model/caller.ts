/** Who is calling, as the identity service knows them. */
export interface Caller {
  readonly userId: string;
  readonly projectId: string;
  readonly roles: readonly string[];
  readonly userName?: string;
  readonly projectName?: string;
  readonly userDomainId?: string;
  readonly projectDomainId?: string;
  readonly systemScope?: boolean;
  readonly token?: string;
  /** Roles of the service that forwards the call, when one does. */
  readonly serviceRoles?: readonly string[];
}
