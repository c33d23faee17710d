import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Context, Engine } from '@apistrata/compute-engine';
import type { HostMap } from '@apistrata/compute-engine/api';
import { type Discovery, requestBase, type Version } from '@apistrata/microversion';
import type { RoutedCall } from '@apistrata/microversion/router';
import { requestIdOf } from '@apistrata/request-id';
import type { Identity } from '../identity/index.js';
import type { Policies, RuleName, Target } from '../policy/index.js';

/** What all calls of one router share. */
export interface RouterContext {
  readonly policies: Policies;
  /** Items of a page at the most. */
  readonly maxLimit: number;
  readonly trustProxy: boolean | undefined;
  /** The documents of the versions of this API. */
  readonly discovery: Discovery;
  /** Whether the identity service knows a project; undefined where nobody can say. */
  readonly projectExists: Identity['projectExists'];
}

/** Where the API is mounted below its base: the versioned one, or the one older than microversions. */
export type Mount = '/v2.1' | '/v2';

/** A link of a representation. */
export interface Link {
  readonly rel: string;
  readonly href: string;
}

/** One request, with everything that operations and views may ask of it. */
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
  /** A project id in the path, which must be the caller's own. */
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

  /** @param engine answers this request: of those that only read it may be one that reads from a replica */
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

  /** URL of the API as the client sees it, without a slash at the end. */
  get base(): string {
    this.#base ??= requestBase(this.req, this.#trustProxy);
    return this.#base;
  }

  /** Whether a rule allows the caller to; on things of their own unless a target is given. */
  can(rule: RuleName, target?: Target): boolean {
    return this.policies.allows(rule, this.caller, target);
  }

  /** Throws the 403 unless a rule allows the caller to. */
  require(rule: RuleName, target?: Target): void {
    this.policies.enforce(rule, this.caller, target);
  }

  /** URL that `self` links begin with, with the project of the request's path. Representations are cached for each of these. */
  get selfBase(): string {
    return `${this.base}${this.mount}${this.#projectSegment}`;
  }

  /** Links keep the project that clients put into the path, and add none of their own. */
  get #projectSegment(): string {
    return this.projectInPath === undefined ? '' : `/${this.projectInPath}`;
  }

  /** `self` below the mount. */
  self(path: string): Link {
    return { rel: 'self', href: `${this.selfBase}${path}` };
  }

  /** `bookmark`, without a version. */
  bookmark(path: string): Link {
    return { rel: 'bookmark', href: `${this.base}${this.#projectSegment}${path}` };
  }

  links(path: string): readonly Link[] {
    return [this.self(path), this.bookmark(path)];
  }
}

/** A call that the hosts as they are now were loaded for: what views ask that show zones, addresses or states of hosts. */
export interface HostsCall extends ComputeCall {
  readonly loaded: HostMap;
}

/** The stage of operations whose views ask for hosts. */
export const loadHosts = ({ engine }: ComputeCall): Promise<HostMap> => engine.hosts.map();
