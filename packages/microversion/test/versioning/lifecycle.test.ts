import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { headerNames, ownHeaders } from '../../../../testing/own-headers.js';
import { sendRequest } from '../../../../testing/send-request.js';
import { before, byVersion, corsHeaders, since, type VersioningOptions, versioning } from '../../src/index.js';

const guide = 'https://example.com/versions/2024-01-31';
const versions: VersioningOptions['versions'] = [
  { version: '2024-01-31', deprecated: '2026-01-01', sunset: '2026-12-31', guide },
  '2025-03-01',
  '2026-11-22',
];

function serve(
  options: Partial<VersioningOptions>,
  handler: (req: unknown, res: ServerResponse) => unknown = (_req, res) => res.end('ok'),
): RequestListener {
  const negotiate = versioning({ versions, ...options });
  return (req, res) => negotiate(req, res, () => handler(req, res));
}

const requested = (version: string, client = 'curl') => ({ headers: { 'API-Version': version, 'User-Agent': client } });
const ending = ({ headers }: Awaited<ReturnType<typeof sendRequest>>) => [
  headers.deprecation,
  headers.sunset,
  headers.link,
];

describe('the end of a version', () => {
  it('is announced in the headers of RFC 9745 and RFC 8594', async () => {
    expect(ending(await sendRequest(serve({}), requested('2024-01-31')))).toEqual([
      '@1767225600',
      'Thu, 31 Dec 2026 00:00:00 GMT',
      `<${guide}>; rel="deprecation"; type="text/html", <${guide}>; rel="sunset"; type="text/html"`,
    ]);
    expect(ending(await sendRequest(serve({}), requested('2025-03-01')))).toEqual([undefined, undefined, undefined]);
  });

  it('keeps Link headers that were set before', async () => {
    const negotiate = versioning({ versions });
    const listener: RequestListener = (req, res) => {
      res.setHeader('Link', '</style.css>; rel="preload"');
      negotiate(req, res, () => res.end());
    };
    expect((await sendRequest(listener, requested('2024-01-31'))).headers.link).toMatch(
      /^<\/style.css>; rel="preload", <https:/,
    );
  });

  it.each([
    ['before', '2026-12-30T23:59:59Z', 200],
    ['after', '2026-12-31T00:00:00Z', 410],
  ])('is enforced if configured: %s the sunset', async (_name, time, status) => {
    const now = () => Date.parse(time);
    expect((await sendRequest(serve({ afterSunset: 'reject', now }), requested('2024-01-31'))).status).toBe(status);
    expect((await sendRequest(serve({ now }), requested('2024-01-31'))).status).toBe(200);
  });

  it.each([
    ['2026-10-01T11:59:59Z', 200, undefined],
    ['2026-10-01T12:00:00Z', 410, '3600'],
    ['2026-10-01T12:59:30Z', 410, '30'],
    ['2026-10-01T13:00:00Z', 200, undefined],
  ])('takes effect temporarily in brown-outs: at %s', async (time, status, retryAfter) => {
    const brownouts = [{ from: '2026-10-01T12:00:00Z', to: '2026-10-01T13:00:00Z' }];
    const listener = serve({ versions: [{ version: '1', brownouts }, '2'], now: () => Date.parse(time) });
    const response = await sendRequest(listener, requested('1'));
    expect([response.status, response.headers['retry-after']]).toEqual([status, retryAfter]);
    if (status === 410) expect(JSON.parse(response.body)).toMatchObject({ code: 'VERSION_GONE', versions: ['1', '2'] });
    expect((await sendRequest(listener, requested('2'))).status).toBe(200);
  });
});

describe('the end of an operation', () => {
  const says = (text: string) => (_req: unknown, res: ServerResponse) => res.end(text);

  it('follows from its window: it is deprecated as of the release of the version without it', async () => {
    const listener = serve({}, byVersion(before('2026-11-22', says('export'))));
    expect(ending(await sendRequest(listener, requested('2025-03-01')))).toEqual(['@1795305600', undefined, undefined]);
    expect(new Date(1795305600_000).toISOString()).toBe('2026-11-22T00:00:00.000Z');
  });

  it('is not announced for an operation that exists in another form in later versions', async () => {
    const listener = serve({}, byVersion([before('2026-11-22', says('a')), since('2026-11-22', says('b'))]));
    expect(ending(await sendRequest(listener, requested('2025-03-01')))).toEqual([undefined, undefined, undefined]);
  });

  it('uses the sunset of the last version that has it, and release dates of other schemes', async () => {
    const numbered = [
      { version: '1.0.0' },
      { version: '1.9.0', sunset: '2027-01-01' },
      { version: '2.0.0', released: '2026-01-01' },
    ];
    const listener = serve({ versions: numbered }, byVersion(before('2.0.0', says('export'))));
    expect(ending(await sendRequest(listener, requested('1.0.0')))).toEqual([
      '@1767225600',
      'Fri, 01 Jan 2027 00:00:00 GMT',
      undefined,
    ]);
  });

  it('links the guide of the last version that has it, once for each relation', async () => {
    const numbered = [
      { version: '1' },
      { version: '2', sunset: '2027-01-01', guide },
      { version: '3', released: '2026-01-01' },
    ];
    const listener = serve({ versions: numbered }, byVersion(before('3', says('export'))));
    const end = ['@1767225600', 'Fri, 01 Jan 2027 00:00:00 GMT'];
    const [deprecation, sunset] = ['deprecation', 'sunset'].map((rel) => `<${guide}>; rel="${rel}"; type="text/html"`);
    expect(ending(await sendRequest(listener, requested('1')))).toEqual([...end, `${deprecation}, ${sunset}`]);
    expect(ending(await sendRequest(listener, requested('2')))).toEqual([...end, `${sunset}, ${deprecation}`]);
    const dated = [{ version: '2024-01-31', guide }, '2026-11-22'];
    const withoutSunset = serve({ versions: dated }, byVersion(before('2026-11-22', says('export'))));
    const response = await sendRequest(withoutSunset, requested('2024-01-31'));
    expect(ending(response)).toEqual(['@1795305600', undefined, deprecation]);
  });
});

it('corsHeaders() exposes the headers that versioning() sends, and allows those that it reads', async () => {
  const hour = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
  const brownout = { version: '2025-03-01', brownouts: [hour] };
  const negotiate = versioning({ versions: [versions[0]!, brownout, '2026-11-22'] });
  const listener: RequestListener = (req, res) => negotiate(req, res, () => res.end());
  const responses = [
    await sendRequest(listener, requested('2024-01-31')),
    await sendRequest(listener, requested('2025-03-01')),
  ];
  const { exposedHeaders, allowedHeaders } = corsHeaders(negotiate);
  expect(headerNames(exposedHeaders)).toEqual(ownHeaders(responses));
  expect(allowedHeaders).toEqual(['API-Version']);
});
