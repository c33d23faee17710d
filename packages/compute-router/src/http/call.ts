import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Context, Engine } from '@apistrata/compute-engine';
import type { HostMap } from '@apistrata/compute-engine/api';
import { type Discovery, requestBase, type Version } from '@apistrata/microversion';
import type { RoutedCall } from '@apistrata/microversion/router';
import { requestIdOf } from '@apistrata/request-id';
import type { Identity } from '../identity/index.js';
import type { Policies, RuleName, Target } from '../policy/index.js';

/** State that all calls of one router share. */
export interface RouterContext {
  readonly policies: Policies;
  /** Maximum number of items per page. */
  readonly maxLimit: number;
  readonly trustProxy: boolean | undefined;
  /** The version documents of this API. */
  readonly discovery: Discovery;
  /** Returns whether the identity service knows a project; undefined if that is unknown. */
  readonly projectExists: Identity['projectExists'];
}

/** The path below the base URL at which the API is mounted: with microversions, or the one that predates them. */
export type Mount = '/v2.1' | '/v2';

/** A link in a response body. */
export interface Link {
  readonly rel: string;
  readonly href: string;
}

/** One request, with everything that operations and views need from it. */
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
  /** The project id in the path. It must be the project of the caller. */
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

  /** @param engine the engine for this request; read-only requests may use a replica */
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

  /** The URL of the API as the client sees it, without a trailing slash. */
  get base(): string {
    this.#base ??= requestBase(this.req, this.#trustProxy);
    return this.#base;
  }

  /** Returns whether a rule allows the caller to act on a target. Default target: the caller's project and user. */
  can(rule: RuleName, target?: Target): boolean {
    return this.policies.allows(rule, this.caller, target);
  }

  /**
   * Enforces a rule.
   *
   * @throws PolicyDenied (403) if the rule does not allow the caller
   */
  require(rule: RuleName, target?: Target): void {
    this.policies.enforce(rule, this.caller, target);
  }

  /** The prefix of `self` links, with the project of the request's path. Representations are cached per prefix. */
  get selfBase(): string {
    return `${this.base}${this.mount}${this.#projectSegment}`;
  }

  /** Links contain the project only if the client put it into the path. */
  get #projectSegment(): string {
    return this.projectInPath === undefined ? '' : `/${this.projectInPath}`;
  }

  /** Returns the `self` link of a path below the mount. */
  self(path: string): Link {
    return { rel: 'self', href: `${this.selfBase}${path}` };
  }

  /** Returns the `bookmark` link of a path. It does not contain the version. */
  bookmark(path: string): Link {
    return { rel: 'bookmark', href: `${this.base}${this.#projectSegment}${path}` };
  }

  links(path: string): readonly Link[] {
    return [this.self(path), this.bookmark(path)];
  }
}

/** A call with the current hosts, for views that show zones, addresses or states of hosts. */
export interface HostsCall extends ComputeCall {
  readonly loaded: HostMap;
}

/** Loads the hosts, for operations whose views need them. */
export const loadHosts = ({ engine }: ComputeCall): Promise<HostMap> => engine.hosts.map();
