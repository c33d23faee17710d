import type { Caller } from '@apistrata/compute-engine';
import { requestBase } from '@apistrata/microversion';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { CloudContext } from './cloud-context.js';
import { hasRole, type ProjectRole } from './project-role.js';
import { badRequest, forbidden } from './service-error.js';

/** A request to one of the cloud's services, with its response and caller. */
export class Call {
  readonly query: URLSearchParams;
  readonly #endListeners: (() => void)[] = [];

  /** @param authenticatedCaller the caller; undefined only on routes that require no token */
  constructor(
    readonly req: Request,
    readonly res: Response,
    readonly cloud: CloudContext,
    private readonly authenticatedCaller: Caller | undefined,
  ) {
    this.query = new URLSearchParams(req.originalUrl.split('?')[1] ?? '');
  }

  /** Calls a function when the request has been handled, even if the client no longer waits for the response. */
  onEnd(ended: () => void): void {
    this.#endListeners.push(ended);
  }

  end(): void {
    for (const ended of this.#endListeners) ended();
  }

  get caller(): Caller {
    if (!this.authenticatedCaller) throw new TypeError('an open route has no caller');
    return this.authenticatedCaller;
  }

  /** The caller with administrator rights, for reading other projects' records that the response does not contain. */
  get elevatedCaller(): Caller {
    return { ...this.caller, isAdmin: true };
  }

  get isAdmin(): boolean {
    return this.caller.isAdmin === true;
  }

  /** Returns whether the caller is an administrator, has a role in its project, or has a role that includes this one. */
  hasRole(role: ProjectRole): boolean {
    return this.isAdmin || hasRole(this.caller, role);
  }

  requireAdmin(): void {
    if (!this.isAdmin) throw forbidden('You are not authorized to perform the requested action.');
  }

  /** Returns a path parameter. */
  param(name: string): string {
    return String(this.req.params[name]);
  }

  /** The URL at which the client reaches the service, without a trailing slash. */
  get base(): string {
    return requestBase(this.req);
  }

  /** The URL at which the client reaches the cloud, without a trailing slash. */
  get cloudBase(): string {
    return this.base.slice(0, this.base.length - this.req.baseUrl.length);
  }

  /** Validates and returns the request body. Throws a 400 error if the body is invalid. */
  body<S extends z.ZodType>(schema: S): z.infer<S> {
    const parseResult = schema.safeParse(this.req.body ?? {});
    if (parseResult.success) return parseResult.data;
    const [issue] = parseResult.error.issues;
    throw badRequest(`Invalid input for ${issue?.path.join('.') || 'the request body'}: ${issue?.message}`);
  }

  /** Returns a number in the query string; undefined if the parameter is missing. */
  number(name: string): number | undefined {
    const text = this.query.get(name);
    if (text === null || text === '') return undefined;
    if (!/^\d+$/.test(text)) throw badRequest(`${name} must be a number of 0 or more, not '${text}'`);
    return Number(text);
  }

  /** Returns a boolean in the query string, in any spelling that clients use; undefined if the parameter is missing. */
  flag(name: string): boolean | undefined {
    const text = this.query.get(name)?.toLowerCase();
    return text === undefined ? undefined : ['true', '1', 'yes', 't', ''].includes(text);
  }

  text(name: string): string | undefined {
    return this.query.get(name) ?? undefined;
  }
}
