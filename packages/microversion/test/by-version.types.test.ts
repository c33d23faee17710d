import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { describe, expectTypeOf, it } from 'vitest';
import { between, byVersion, since, until, Version } from '../src/index.js';

const listener: RequestListener = (_req, res) => void res.end();
const handler: RequestHandler = (_req, res) => void res.json({});

describe('the types of byVersion()', () => {
  it('match its handlers', () => {
    expectTypeOf(byVersion(since('2.1', listener))).toEqualTypeOf<RequestListener>();
    expectTypeOf(byVersion([until('2.9', handler), since('2.10', handler)])).toEqualTypeOf<RequestHandler>();
    const sum = (_req: IncomingMessage, _res: ServerResponse, next: () => number) => next() + 1;
    expectTypeOf(byVersion(between('2.1', Version.of('2.5'), sum))).toEqualTypeOf<typeof sum>();
  });

  it('reject invalid handlers and options', () => {
    const never = () => {
      // @ts-expect-error a handler without its window
      byVersion(listener);
      // @ts-expect-error no handler
      byVersion(since('2.1', 'text'));
      // @ts-expect-error unknown option
      byVersion(since('2.1', listener), { error: 'next' });
      // @ts-expect-error errors are sent or passed on
      byVersion(since('2.1', listener), { errors: 'throw' });
    };
    expectTypeOf(never).toBeFunction();
  });
});
