import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Cost,
  type EnforceQuotaMiddleware,
  type EnforceQuotaOptions,
  enforceQuota,
  memoryStore,
  projectQuotas,
  type QuotaExceeded,
} from '@apistrata/quota';
import express, { type Request, type RequestHandler } from 'express';
import { describe, expectTypeOf, it } from 'vitest';

const quota = projectQuotas({ preset: 'key-manager', store: memoryStore() });

interface Named extends IncomingMessage {
  readonly projectName: string;
}

describe('the types of enforceQuota()', () => {
  it('assume only IncomingMessage without a type parameter', () => {
    const enforce = enforceQuota({ quota, kind: 'secrets', project: (req) => String(req.headers.host) });
    expectTypeOf(enforce).toEqualTypeOf<EnforceQuotaMiddleware<IncomingMessage>>();
    expectTypeOf(enforce).returns.resolves.toBeVoid();
  });

  it('pass the request type to every function of the options', () => {
    enforceQuota<Named>({
      quota,
      kinds: { secrets: (req) => req.projectName.length, orders: async () => 2 },
      project: async (req) => req.projectName,
      succeeded: (res, req) => {
        expectTypeOf(req).toEqualTypeOf<Named>();
        expectTypeOf(res).toEqualTypeOf<ServerResponse>();
        return true;
      },
      onExceeded: (error, req) => {
        expectTypeOf(error).toEqualTypeOf<QuotaExceeded>();
        expectTypeOf(req.projectName).toBeString();
      },
    });
    expectTypeOf<EnforceQuotaOptions<Named>['cost']>().toEqualTypeOf<Cost<Named> | undefined>();
  });

  it('match the handlers and requests of Express', () => {
    const enforce = enforceQuota<Request>({ quota, kind: 'secrets', project: (req) => String(req.params.project) });
    expectTypeOf(enforce).toExtend<RequestHandler>();
    express().post('/:project', enforce, (_req, res) => void res.end());
  });

  it('reject invalid options', () => {
    const never = () => {
      // @ts-expect-error project is required
      enforceQuota({ quota, kind: 'secrets' });
      // @ts-expect-error unknown option
      enforceQuota({ quota, kind: 'secrets', project: () => 'p', limit: 3 });
      // @ts-expect-error status is 403 or 429
      enforceQuota({ quota, kind: 'secrets', project: () => 'p', status: 500 });
      // @ts-expect-error a cost is a number
      enforceQuota({ quota, kind: 'secrets', project: () => 'p', cost: () => '1' });
      // @ts-expect-error a plain request has no parameters
      enforceQuota({ quota, kind: 'secrets', project: (req) => req.params.project });
    };
    expectTypeOf(never).toBeFunction();
  });
});
