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

const quota = projectQuotas({ store: memoryStore() });

interface Named extends IncomingMessage {
  readonly projectName: string;
}

describe('the types of enforceQuota()', () => {
  it('know nothing of a request unless they are told', () => {
    const enforce = enforceQuota({ quota, kind: 'secrets', project: (req) => String(req.headers.host) });
    expectTypeOf(enforce).toEqualTypeOf<EnforceQuotaMiddleware<IncomingMessage>>();
    expectTypeOf(enforce).returns.resolves.toBeVoid();
  });

  it('hand the request type on to every function of the options', () => {
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

  it('are those of an Express handler, and of a request of Express', () => {
    const enforce = enforceQuota<Request>({ quota, kind: 'secrets', project: (req) => String(req.params.project) });
    expectTypeOf(enforce).toExtend<RequestHandler>();
    express().post('/:project', enforce, (_req, res) => void res.end());
  });

  it('refuse what cannot be', () => {
    const never = () => {
      // @ts-expect-error a project is needed
      enforceQuota({ quota, kind: 'secrets' });
      // @ts-expect-error there is no such option
      enforceQuota({ quota, kind: 'secrets', project: () => 'p', limit: 3 });
      // @ts-expect-error a refusal is 403 or 429
      enforceQuota({ quota, kind: 'secrets', project: () => 'p', status: 500 });
      // @ts-expect-error a cost is a number
      enforceQuota({ quota, kind: 'secrets', project: () => 'p', cost: () => '1' });
      // @ts-expect-error a plain request has no parameters
      enforceQuota({ quota, kind: 'secrets', project: (req) => req.params.project });
    };
    expectTypeOf(never).toBeFunction();
  });
});
