import type { RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
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
  ])('runs the handler of the window at %s: %s', async (version, text) => {
    expect((await sendRequest(serve(handler), at(version))).body).toBe(text);
  });

  it.each(['2.10', '2.19', '2.30', 'latest'])('returns 404 outside all windows, at %s', async (version) => {
    const response = await sendRequest(serve(handler), at(version));
    expect(response.status).toBe(404);
    expect(JSON.parse(response.body)).toEqual({
      itemNotFound: { code: 404, message: 'The resource could not be found.' },
    });
    expect(response.headers['x-service-api-version']).toBe(version === 'latest' ? '2.100' : version);
  });

  it('rejects in the format of the preceding middleware', async () => {
    const result = await sendRequest(serve(handler, { ...compute, errors: apiSigError }), at('2.50'));
    expect(JSON.parse(result.body).errors[0]).toMatchObject({ status: 404, code: 'compute.not-found' });
  });

  it('rejects in its own format if one is configured', async () => {
    const own = byVersion(since('2.50', says('x')), { errors: () => ({ contentType: 'text/plain', body: 'no' }) });
    expect((await sendRequest(serve(own), at('2.49'))).body).toBe('no');
    expect((await sendRequest(serve(own), at('2.50'))).body).toBe('x');
  });

  it('can pass the error to the next handler', async () => {
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
    const response = await sendRequest(app, at('2.1'));
    expect([response.status, response.body]).toEqual([410, '["NOT_IN_VERSION",404]']);
    expect((await sendRequest(app, at('2.51'))).body).toBe('"2.51"');
  });

  it('rejects overlapping windows at creation', () => {
    expect(() => byVersion([until('2.9', says('a')), since('2.9', says('b'))])).toThrow(/overlap/);
  });

  it('rejects unknown options at creation', () => {
    expect(() => byVersion(since('2.9', says('a')), { error: 'next' } as any)).toThrow(/unknown option 'error'/);
  });

  it('reports the missing middleware if no version was negotiated', () => {
    expect(() => handler({ headers: {} }, {} as any)).toThrow(
      /mount versioning\(\) or microversion\(\) before the handler/,
    );
  });
});
