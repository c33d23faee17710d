import { AbstractStartedContainer, type StartedTestContainer } from 'testcontainers';

/** A rule that changes responses (`http`) or machine steps (`machine`), in the format of `POST /_control/rules`. */
export type ControlledRule =
  | { readonly http: Readonly<Record<string, unknown>> }
  | { readonly machine: Readonly<Record<string, unknown>> };

/** An active rule of the cloud. */
export interface RuleHandle {
  /** Returns the number of requests or steps that the rule has matched. */
  calls(): Promise<number>;
  /** Resumes the steps that a rule with `hang: true` has suspended. */
  release(): Promise<void>;
  remove(): Promise<void>;
}

/** The account with which a client authenticates; a missing user or project is created. */
interface Account {
  /** Default `admin`. */
  readonly user?: string;
  /** Default `demo`. */
  readonly project?: string;
}

/**
 * A running container with a test cloud. If the cloud rejects a request, the method's promise rejects with an error
 * that contains the response.
 */
export class StartedTestCloudContainer extends AbstractStartedContainer {
  readonly #port: number;

  /**
   * @param container the started container
   * @param port the port of the cloud in the container
   */
  constructor(container: StartedTestContainer, port: number) {
    super(container);
    this.#port = port;
  }

  /** The URL of the cloud, without a trailing slash. */
  get url(): string {
    return `http://${this.getHost()}:${this.getMappedPort(this.#port)}`;
  }

  /** The URL of the identity service, whose catalog contains the URLs of the other services. */
  get authUrl(): string {
    return `${this.url}/identity/v3`;
  }

  /** Returns the environment variables (`OS_AUTH_URL`, ...) that command-line clients and SDKs read. */
  async env(account: Account = {}): Promise<Record<string, string>> {
    const { environment } = await this.control<{ environment: Record<string, string> }>('POST', '/logins', account);
    return { ...environment, OS_AUTH_URL: this.authUrl };
  }

  /** Returns a token without a login. The token has the requested `roles`, even those that the user lacks. */
  async token(account: Account & { readonly roles?: readonly string[] } = {}): Promise<string> {
    return (await this.control<{ token: string }>('POST', '/tokens', account)).token;
  }

  /** Adds a rule, such as `rule({ http: { match: { method: 'POST' }, status: 503, times: 1 } })`. */
  async rule(rule: ControlledRule): Promise<RuleHandle> {
    const { id } = await this.control<{ id: string }>('POST', '/rules', rule);
    return {
      calls: async () => (await this.control<{ calls: number }>('GET', `/rules/${id}`)).calls,
      release: () => this.control('POST', `/rules/${id}/release`),
      remove: () => this.control('DELETE', `/rules/${id}`),
    };
  }

  /** Returns entries of the journal that match a query, such as `requests({ service: 'compute', method: 'POST', status: '4xx' })`. */
  async requests(query: Readonly<Record<string, string>> = {}): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { requests } = await this.control<{ requests: Record<string, unknown>[] }>(
      'GET',
      `/requests?${new URLSearchParams(query)}`,
    );
    return requests;
  }

  /** Returns the requests that no operation serves, with the number of times that each occurred. */
  async unhandled(): Promise<readonly { readonly method: string; readonly url: string; readonly count: number }[]> {
    return (await this.control<{ unhandled: { method: string; url: string; count: number }[] }>('GET', '/unhandled'))
      .unhandled;
  }

  /** Resolves when no background jobs are left. */
  async idle(): Promise<void> {
    await this.control('POST', '/idle');
  }

  /** Advances the clock of the cloud, for example by `'5m'`. */
  async advance(duration: string): Promise<void> {
    await this.control('POST', '/clock', { advance: duration });
  }

  /** Resets all services to their initial state, removes all rules and clears the journal. */
  async reset(): Promise<void> {
    await this.control('POST', '/reset');
  }

  /** Saves the state of all services under a name, inside the container. Replaces an earlier state with this name. */
  async save(name: string): Promise<void> {
    await this.control('PUT', `/states/${encodeURIComponent(name)}`);
  }

  /** Restores the state that `save()` stored under this name. Removes all rules and cancels background jobs. */
  async restore(name: string): Promise<void> {
    await this.control('POST', `/states/${encodeURIComponent(name)}/restore`);
  }

  /**
   * Sends a request to the control API of the cloud. Returns its JSON, or undefined if the response has no body.
   * @param path below `/_control`
   */
  async control<T = undefined>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}/_control${path}`, {
      method,
      ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}
