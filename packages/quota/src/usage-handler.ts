import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkOptions } from './check-options.js';
import type { ProjectQuotas, Usage } from './project-quotas.js';

/** Options for `usageHandler()`. */
export interface UsageHandlerOptions<Req extends IncomingMessage = IncomingMessage> {
  readonly quota: ProjectQuotas;
  /** Returns the id of the project whose usage the handler sends. */
  readonly project: (req: Req) => string | Promise<string>;
}

/** The usage of one resource kind in the response of `usageHandler()`. */
export interface UsageEntry {
  readonly kind: string;
  /** The committed amount. */
  readonly used: number;
  /** The amount that requests in progress have reserved. */
  readonly reserved: number;
  /** The limit; null if the kind is unlimited. */
  readonly limit: number | null;
  /** The amount that is still available; null if the kind is unlimited. */
  readonly remaining: number | null;
  /** A human-readable summary, such as `412 of 500 used`. */
  readonly text: string;
}

function createUsageEntry(kind: string, { used, reserved, limit }: Usage): UsageEntry {
  if (limit < 0) return { kind, used, reserved, limit: null, remaining: null, text: `${used} used` };
  const remaining = Math.max(0, Number(limit) - used - reserved);
  return { kind, used, reserved, limit: Number(limit), remaining, text: `${used} of ${limit} used` };
}

/**
 * Creates a handler that sends the usage of a project as JSON, for the customers of a service: `{"quotas": [...]}` with a
 * {@link UsageEntry} for each kind. Errors are passed to `next`.
 *
 * @throws TypeError if an option is unknown or missing
 *
 * @example
 * ```ts
 * import { memoryStore, projectQuotas, usageHandler } from '@apistrata/quota';
 * import express from 'express';
 *
 * const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 500 } });
 * express().get('/usage', usageHandler({ quota, project: (req) => String(req.headers['x-account']) }));
 * ```
 */
export function usageHandler<Req extends IncomingMessage = IncomingMessage>(
  options: UsageHandlerOptions<Req>,
): (req: Req, res: ServerResponse, next: (error?: unknown) => unknown) => Promise<void> {
  checkOptions('usageHandler', options, { quota: true, project: true });
  const { quota, project } = options;
  if (!quota || typeof project !== 'function') throw new TypeError('usageHandler: quota and project are required');
  return async (req, res, next) => {
    try {
      const usage = await quota.usage(await project(req));
      const body = JSON.stringify({
        quotas: Object.entries(usage).map(([kind, entry]) => createUsageEntry(kind, entry)),
      });
      const length = Buffer.byteLength(body);
      const headers = { 'Content-Type': 'application/json', 'Content-Length': length, 'Cache-Control': 'no-store' };
      res.writeHead(200, headers).end(body);
    } catch (error) {
      next(error);
    }
  };
}
