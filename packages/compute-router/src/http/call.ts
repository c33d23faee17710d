import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Context, Engine } from '@apistrata/compute-engine';
import type { HostMap } from '@apistrata/compute-engine/api';
import { type Discovery, requestBase, type Version } from '@apistrata/microversion';
import type { RoutedCall } from '@apistrata/microversion-router';
import { requestIdOf } from '@apistrata/request-id';
import type { Identity } from '../identity/index.js';
import type { Policies, RuleName, Target } from '../policy/index.js';

/** Configuration that all requests to one router share. */
export interface RouterContext {
  readonly policies: Policies;
  /** Maximum number of items per page. */
  readonly maxLimit: number;
  readonly trustProxy: boolean | undefined;
  /** The version documents, which list the supported API versions. */
  readonly discovery: Discovery;
  /** Returns whether the project exists, or undefined if the identity service cannot determine it. */
  readonly projectExists: Identity['projectExists'];
}

/** The API's path below the base URL: `/v2.1` supports microversions, `/v2` predates them. */
export type Mount = '/v2.1' | '/v2';

/** A link in a response body. */
export interface Link {
  readonly rel: string;
  readonly href: string;
}

/** An authenticated request, with the data that operations and views need to handle it. */
export class ComputeCall implements RoutedCall {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly caller: Caller;
  readonly engine: Engine;
  readonly policies: Policies;
  readonly maxLimit: number;
  readonly context: Context;
  readonly discovery: Discovery;
  readonly projectExists: Identity['projectExists'];
  readonly mount: Mount;
  /** The project id in the path, if any. It must equal the caller's project id. */
  projectInPath: string | undefined;

  version!: Version;
  params: RoutedCall['params'];
  body: RoutedCall['body'];
  query: RoutedCall['query'];
  target: RoutedCall['target'];
  loaded: RoutedCall['loaded'];
  operation: RoutedCall['operation'];

  readonly #trustProxy: boolean | undefined;
  #base: string | undefined;

  /** @param engine the engine for this request, which may read from a replica if the request is read-only */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller,
    shared: RouterContext,
    mount: Mount,
    engine: Engine,
  ) {
    this.req = req;
    this.res = res;
    this.caller = { ...caller, isAdmin: shared.policies.isAdmin(caller) };
    this.engine = engine;
    this.policies = shared.policies;
    this.maxLimit = shared.maxLimit;
    this.discovery = shared.discovery;
    this.projectExists = shared.projectExists;
    this.mount = mount;
    this.#trustProxy = shared.trustProxy;
    const { isAdmin = false } = this.caller;
    this.context = { caller: this.caller, requestId: requestIdOf(req)?.local ?? '', isAdmin };
  }

  /** The API's base URL as the client sees it, without a trailing slash. */
  get base(): string {
    this.#base ??= requestBase(this.req, this.#trustProxy);
    return this.#base;
  }

  /**
   * Returns whether a policy rule allows the caller to act on a target. Default target: the caller's project and user.
   */
  can(rule: RuleName, target?: Target): boolean {
    return this.policies.allows(rule, this.caller, target);
  }

  /**
   * Enforces a policy rule.
   *
   * @throws PolicyDenied (403) if the rule does not allow the caller
   */
  require(rule: RuleName, target?: Target): void {
    this.policies.enforce(rule, this.caller, target);
  }

  /**
   * The prefix of `self` links, including the project id if the request's path contains it. It is part of the cache key
   * of representations.
   */
  get selfBase(): string {
    return `${this.base}${this.mount}${this.#projectSegment}`;
  }

  /** A slash and the project id if the request's path contains the id, otherwise an empty string. */
  get #projectSegment(): string {
    return this.projectInPath === undefined ? '' : `/${this.projectInPath}`;
  }

  /** Returns a `self` link for a path below the mount. */
  selfLink(path: string): Link {
    return { rel: 'self', href: `${this.selfBase}${path}` };
  }

  /** Returns a `bookmark` link for a path. Bookmark links do not contain the version. */
  bookmarkLink(path: string): Link {
    return { rel: 'bookmark', href: `${this.base}${this.#projectSegment}${path}` };
  }

  links(path: string): readonly Link[] {
    return [this.selfLink(path), this.bookmarkLink(path)];
  }
}

/** A request with the current hosts in `loaded`, for views that show host zones, addresses or states. */
export interface HostsCall extends ComputeCall {
  readonly loaded: HostMap;
}

/** Loads the current hosts for operations whose views require a `HostsCall`. */
export const loadHosts = ({ engine }: ComputeCall): Promise<HostMap> => engine.hosts.map();
