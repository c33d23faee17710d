import type { IncomingMessage } from 'node:http';
import {
  type EnforceQuotaOptions,
  enforceQuota,
  memoryStore,
  type ProjectQuotas,
  projectQuotas,
} from '@apistrata/quota';
import express, { type Express, type Request } from 'express';
import { beforeEach, expect } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';

export type Options = Partial<EnforceQuotaOptions<Request>>;

export const project = (req: IncomingMessage) => String(req.headers['x-project-id'] ?? 'p');
export const exceededBody = (operation: string) => ({
  code: 403,
  title: 'Forbidden',
  description: `${operation} issue seen - Creation not allowed because a quota has been reached.`,
});

export let quota: ProjectQuotas;
/** Gives each test a quota without usage. */
export function onFreshQuota(): void {
  beforeEach(() => {
    quota = projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: 2 } });
  });
}

/** An app whose POST /secrets responds with the status in the query string. */
export function app(options: Options = {}, make: typeof express = express): Express {
  const enforce = enforceQuota<Request>({ quota, kind: 'secrets', project, ...options });
  return make()
    .post('/secrets', enforce, (req, res) => {
      if (req.query.throw) throw new Error('handler failed');
      res.status(Number(req.query.status ?? 201)).json({});
    })
    .delete('/secrets', enforce, (req, res) => {
      res.status(Number(req.query.status ?? 204)).end();
    })
    .use(((error, _req, res, _next) => {
      res.status(error.status ?? 500).json({ caught: error.code ?? error.message });
    }) as express.ErrorRequestHandler);
}

export const countOf = async (of = quota, id = 'p') => {
  const { used, reserved } = (await of.usage(id)).secrets!;
  return { used, reserved };
};
export const untilUsed = (used: number, of = quota) =>
  eventually(async () => expect(await countOf(of)).toEqual({ used, reserved: 0 }));
