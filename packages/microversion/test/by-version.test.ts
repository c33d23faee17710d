import type { RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { ask } from '../../../testing/ask.js';
import { apiSigError, between, byVersion, type MicroversionOptions, microversion, since, until } from '../src/index.js';

const compute: MicroversionOptions = { service: 'compute', min: '2.1', max: '2.100' };
const says = (text: string) => (_req: unknown, res: ServerResponse) => res.end(text);
const at = (version: string) => ({ headers: { 'X-Service-API-Version': version } });

function serve(handler: any, options: MicroversionOptions = compute): RequestListener {
  const negotiate = microversion(options);
  return (req, res) => void negotiate(req, res, (error) => handler(req, res, error));
}

describe('a handler by version', () => {
  const handler = byVersion([until('2.9', says('old')), between('2.20', '2.29', says('new'))]);

  it.each([
    ['2.1', 'old'],
    ['2.9', 'old'],
    ['2.20', 'new'],
    ['2.29', 'new'],
  ])('runs at %s the one whose window it is: %s', async (version, text) => {
    expect((await ask(serve(handler), at(version))).body).toBe(text);
  });

  it.each(['2.10', '2.19', '2.30', 'latest'])('is a 404 outside of every window, at %s', async (version) => {
    const answer = await ask(serve(handler), at(version));
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toEqual({
      itemNotFound: { code: 404, message: 'The resource could not be found.' },
    });
    expect(answer.headers['x-service-api-version']).toBe(version === 'latest' ? '2.100' : version);
  });

  it('refuses in the form of the middleware before it', async () => {
    const answer = await ask(serve(handler, { ...compute, errorBody: apiSigError }), at('2.50'));
    expect(JSON.parse(answer.body).errors[0]).toMatchObject({ status: 404, code: 'compute.not-found' });
  });

  it('refuses in a form of its own when it is given one', async () => {
    const own = byVersion(since('2.50', says('x')), { errorBody: () => ({ contentType: 'text/plain', body: 'no' }) });
    expect((await ask(serve(own), at('2.49'))).body).toBe('no');
    expect((await ask(serve(own), at('2.50'))).body).toBe('x');
  });

  it('can hand the error on', async () => {
    const app = express();
    app.use(microversion(compute));
    app.get(
      '/',
      byVersion(
        since('2.50', (req, res) => void res.json(req.microversion)),
        { errors: 'next' },
      ),
    );
    app.use((error: any, _req: any, res: any, _next: any) => res.status(410).json([error.code, error.status]));
    const answer = await ask(app, at('2.1'));
    expect([answer.status, answer.body]).toEqual([410, '["NOT_IN_VERSION",404]']);
    expect((await ask(app, at('2.51'))).body).toBe('"2.51"');
  });

  it('refuses overlapping windows when it is made', () => {
    expect(() => byVersion([until('2.9', says('a')), since('2.9', says('b'))])).toThrow(/overlap/);
  });

  it('refuses unknown options when it is made', () => {
    expect(() => byVersion(since('2.9', says('a')), { error: 'next' } as any)).toThrow(/unknown option 'error'/);
  });

  it('says what is missing when nothing has negotiated', () => {
    expect(() => handler({ headers: {} }, {} as any)).toThrow(/put microversion\(\) in front/);
  });
});
