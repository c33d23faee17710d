import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import express4 from 'express4';
import { describe, expect, it } from 'vitest';
import { sendRequest, type TestRequest } from '../../../../testing/send-request.js';
import {
  acceptParameter,
  acceptVersion,
  byVersion,
  header,
  pathPrefix,
  queryParameter,
  since,
  Version,
  type VersioningOptions,
  versioning,
} from '../../src/index.js';

const dated: VersioningOptions = { versions: ['2026-11-22', '2024-01-31', '2025-03-01'] };

/** Responds with the version and the URL that the handlers see. */
function serve(options: VersioningOptions): RequestListener {
  const negotiate = versioning(options);
  return (req, res) => {
    negotiate(req, res, (error) =>
      res.end(error ? `error ${(error as Error).message}` : `${req.microversion} ${req.url}`),
    );
  };
}

declare module 'node:http' {
  interface IncomingMessage {
    microversion?: Version;
  }
}

const requested = (version: string) => ({ headers: { 'API-Version': version } });

describe('versions by date', () => {
  it.each([
    ['none', {}, '2024-01-31'],
    ['2025-03-01', requested('2025-03-01'), '2025-03-01'],
    ['latest', requested('latest'), '2026-11-22'],
  ])('serves a request for %s', async (_name, request, version) => {
    const response = await sendRequest(serve(dated), request);
    expect([response.body, response.headers['api-version'], response.headers.vary]).toEqual([
      `${version} /`,
      version,
      'API-Version',
    ]);
  });

  it('rejects a version that is not listed with 406 and the versions, as problem details', async () => {
    const response = await sendRequest(serve(dated), requested('2025-03-02'));
    expect([response.status, response.headers['content-type'], response.headers.vary]).toEqual([
      406,
      'application/problem+json',
      'API-Version',
    ]);
    expect(JSON.parse(response.body)).toEqual({
      title: 'Not Acceptable',
      status: 406,
      detail: 'Version 2025-03-02 is not supported. Supported versions: 2024-01-31, 2025-03-01, 2026-11-22.',
      code: 'UNACCEPTABLE_VERSION',
      versions: ['2024-01-31', '2025-03-01', '2026-11-22'],
    });
  });

  it('rejects a value that is not a date with 400', async () => {
    const response = await sendRequest(serve(dated), requested('soon'));
    expect(JSON.parse(response.body)).toMatchObject({
      status: 400,
      code: 'INVALID_VERSION_HEADER',
      detail: "API-Version: 'soon' is not a version: send a date YYYY-MM-DD, like 2026-11-22.",
    });
  });

  it('serves the newest version below an unlisted one if configured', async () => {
    const listener = serve({ ...dated, unlisted: 'previous' });
    expect((await sendRequest(listener, requested('2026-01-01'))).body).toBe('2025-03-01 /');
    expect((await sendRequest(listener, requested('2030-01-01'))).body).toBe('2026-11-22 /');
    expect((await sendRequest(listener, requested('2023-01-01'))).status).toBe(406);
  });
});

describe('versions of other schemes', () => {
  const versions = ['1.0.0', '1.4.0', '1.4.2', '2.0.0'];

  it.each([
    ['1.4.0', '1.4.0'],
    ['1.4', '1.4.2'],
    ['1', '1.4.2'],
    ['^1.0.0', '1.4.2'],
    ['~1.0.0', '1.0.0'],
    ['2.x', '2.0.0'],
  ])('serves Accept-Version: %s at %s', async (text, version) => {
    const listener = serve({ versions, from: acceptVersion() });
    const response = await sendRequest(listener, { headers: { 'Accept-Version': text } });
    expect([response.body, response.headers['accept-version']]).toEqual([`${version} /`, version]);
  });

  it('rejects a range without a version', async () => {
    const listener = serve({ versions, from: acceptVersion() });
    expect((await sendRequest(listener, { headers: { 'Accept-Version': '^3.0.0' } })).status).toBe(406);
  });

  it('serves integers and custom schemes', async () => {
    expect((await sendRequest(serve({ versions: ['9', '10'] }), requested('latest'))).body).toBe('10 /');
    const quarters = {
      name: 'quarters',
      form: 'a quarter like 2026Q4',
      lowest: '0001Q1',
      parse: (text: string) => /^(\d{4})Q([1-4])$/.exec(text)?.slice(1) as [string, string] | undefined,
      next: ([year, quarter]: readonly string[]) =>
        quarter === '4' ? `${Number(year) + 1}Q1` : `${year}Q${Number(quarter) + 1}`,
    };
    const listener = serve({ scheme: quarters, versions: ['2026Q1', '2025Q3'] });
    expect((await sendRequest(listener, {})).body).toBe('2025Q3 /');
    expect((await sendRequest(listener, requested('2026Q1'))).body).toBe('2026Q1 /');
    expect((await sendRequest(listener, requested('2026Q5'))).status).toBe(400);
    expect(Version.in(quarters, '2025Q4')?.next().text).toBe('2026Q1');
  });
});

describe('the part of the request that contains the version', () => {
  const two = { versions: ['1', '2'] };
  const rows: [string, VersioningOptions['from'], TestRequest, string, string | undefined][] = [
    ['a header', header('X-Version'), { headers: { 'X-Version': '2' } }, '2 /', 'X-Version'],
    ['the last value of a header', header('X-Version'), { headers: { 'X-Version': ['1', '2'] } }, '2 /', 'X-Version'],
    ['a query parameter', queryParameter('v'), { path: '/a?b=1&v=2' }, '2 /a?b=1&v=2', undefined],
    ['no query parameter', queryParameter('v'), { path: '/a?b=1' }, '1 /a?b=1', undefined],
    ['the path', pathPrefix('v'), { path: '/v2/a?b=1' }, '2 /a?b=1', undefined],
    ['the path alone', pathPrefix('v'), { path: '/v2?b=1' }, '2 /?b=1', undefined],
    ['a path without a version', pathPrefix('v'), { path: '/values/2' }, '1 /values/2', undefined],
    ['a path without prefix', pathPrefix(), { path: '/2/a' }, '2 /a', undefined],
    ['Accept', acceptParameter(), { headers: { Accept: 'application/json; version=2' } }, '2 /', 'Accept'],
    [
      'the best of Accept',
      acceptParameter('v'),
      { headers: { Accept: 'text/html;v=1;q=0.5, application/vnd.acme+json; v="2"; q=0.9, */*' } },
      '2 /',
      'Accept',
    ],
    ['Accept without it', acceptParameter(), { headers: { Accept: 'text/html;q=0.5' } }, '1 /', 'Accept'],
    [
      'the first of several',
      [header('X-Version'), queryParameter('v')],
      { path: '/?v=1', headers: { 'X-Version': '2' } },
      '2 /?v=1',
      'X-Version',
    ],
    ['the second of several', [header('X-Version'), queryParameter('v')], { path: '/?v=2' }, '2 /?v=2', 'X-Version'],
  ];

  it.each(rows)('is %s', async (_name, from, request, body, vary) => {
    const response = await sendRequest(serve({ ...two, from }), request);
    expect([response.body, response.headers.vary]).toEqual([body, vary]);
  });

  it('is in the path below a mount point of an Express app, where originalUrl keeps it', async () => {
    for (const create of [express, express4]) {
      const app = create();
      app.use('/api', versioning({ ...two, from: pathPrefix('v') }));
      app.get(
        '/api/lists',
        (req: express.Request, res: express.Response) => void res.json([req.microversion, req.originalUrl]),
      );
      expect(JSON.parse((await sendRequest(app, { path: '/api/v2/lists' })).body)).toEqual(['2', '/api/v2/lists']);
    }
  });
});

describe('a request without a version', () => {
  it.each([
    ['oldest', '2024-01-31'],
    ['newest', '2026-11-22'],
    ['2025-03-01', '2025-03-01'],
  ])('is served at %s', async (setting, version) => {
    expect((await sendRequest(serve({ ...dated, default: setting }), {})).body).toBe(`${version} /`);
  });

  it('is rejected if a version is required', async () => {
    const response = await sendRequest(serve({ ...dated, default: 'required' }), {});
    expect(JSON.parse(response.body)).toMatchObject({
      status: 400,
      code: 'VERSION_REQUIRED',
      versions: expect.any(Array),
    });
  });

  const pins: Readonly<Record<string, string>> = { ada: '2025-03-01', old: '2020-01-01' };
  const account = (req: IncomingMessage) => pins[String(req.headers.account)];

  it.each([
    ['a function', account],
    ['a function that returns a promise', async (req: IncomingMessage) => account(req)],
  ])('is served at the version to which its account is pinned, by %s', async (_name, pinned) => {
    const listener = serve({ ...dated, default: pinned });
    expect((await sendRequest(listener, { headers: { account: 'ada' } })).body).toBe('2025-03-01 /');
    expect((await sendRequest(listener, { headers: { account: 'new' } })).body).toBe('2024-01-31 /');
    expect((await sendRequest(listener, { headers: { account: 'old' } })).status).toBe(406);
    expect((await sendRequest(listener, { headers: { account: 'ada', 'API-Version': '2026-11-22' } })).body).toBe(
      '2026-11-22 /',
    );
  });

  it('passes a failure of the store to the error handler', async () => {
    const listener = serve({ ...dated, default: () => Promise.reject(new Error('store is away')) });
    expect((await sendRequest(listener, {})).body).toBe('error store is away');
  });
});

describe('errors', () => {
  const removed = requested('2020-01-01');

  it('are plain JSON if configured', async () => {
    const response = await sendRequest(serve({ ...dated, errors: 'json' }), removed);
    expect(JSON.parse(response.body)).toEqual({
      error: { code: 'UNACCEPTABLE_VERSION', status: 406, message: expect.stringContaining('Supported versions') },
    });
  });

  it('are rendered by a function', async () => {
    const errors: VersioningOptions['errors'] = ({ status }) => ({ contentType: 'text/plain', body: `no: ${status}` });
    const response = await sendRequest(serve({ ...dated, errors }), removed);
    expect([response.status, response.headers['content-type'], response.body]).toEqual([406, 'text/plain', 'no: 406']);
  });

  it('are passed to the error handler', async () => {
    expect((await sendRequest(serve({ ...dated, errors: 'next' }), removed)).body).toContain(
      'error Version 2020-01-01',
    );
  });

  it('outside the windows of a handler have the same format', async () => {
    const negotiate = versioning(dated);
    const handler = byVersion(since('2025-03-01', (_req: IncomingMessage, res: ServerResponse) => res.end('new')));
    const listener: RequestListener = (req, res) => negotiate(req, res, () => handler(req, res));
    expect((await sendRequest(listener, requested('2025-03-01'))).body).toBe('new');
    const response = await sendRequest(listener, {});
    expect(JSON.parse(response.body)).toEqual({
      title: 'Not Found',
      status: 404,
      detail: 'The resource could not be found.',
      code: 'NOT_IN_VERSION',
    });
  });
});

describe('options', () => {
  it.each([
    [{ versions: [] }, "'versions' is empty"],
    [{ versions: ['2025-01-01', '2'] }, 'cannot be compared'],
    [{ versions: ['2', '2'] }, 'listed twice'],
    [{ versions: ['soon'] }, "'soon' is not a version"],
    [{ versions: ['2'], unlisted: 'nearest' }, "'unlisted' must be 'reject' or 'previous'"],
    [{ versions: ['2'], default: '3' }, "'default' is not one of the versions"],
    [{ versions: ['2'], form: 'dates' }, "unknown option 'form'"],
    [{ versions: ['2'], errors: 'html' }, "'errors' must be 'documented', 'problem', 'json', 'next' or a function"],
    [{ versions: [{ version: '2', sunset: 'soon' }] }, "'sunset' of version 2 is not a date"],
    [{ versions: [{ version: '2', retired: '2026-01-01' }] }, "unknown field 'retired'"],
    [{ versions: [{ version: '2', guide: 'a b', sunset: '2026-01-01' }] }, "'guide' of version 2 is not a URL"],
    [{ versions: [{ version: '2', deprecated: '2027-01-01', sunset: '2026-01-01' }] }, 'ends before it is deprecated'],
  ])('throw if they are invalid: %j', (options, message) => {
    expect(() => versioning(options as unknown as VersioningOptions)).toThrow(message);
  });
});
