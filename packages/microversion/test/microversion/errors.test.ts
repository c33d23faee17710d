import { describe, expect, it } from 'vitest';
import { linesOf, sendRequest } from '../../../../testing/send-request.js';
import {
  apiSigError,
  computeFault,
  genericError,
  type MicroversionOptions,
  microversion,
  microversionOf,
  negotiator,
  UnacceptableVersion,
} from '../../src/index.js';
import { bare, compute, expectVersion, FOUR, old } from './served.js';

describe('errors', () => {
  const rejected = old('2.101');

  it('of services other than compute have the API-SIG format, with the supported range', async () => {
    const response = await sendRequest(bare({ service: 'placement', min: '1.0', max: '1.39' }), {
      headers: { 'Service-API-Version': 'placement 1.40' },
    });
    expect(response.status).toBe(406);
    expect(JSON.parse(response.body).errors).toEqual([
      {
        code: 'placement.microversion-unsupported',
        status: 406,
        title: expect.any(String),
        detail: 'Version 1.40 is not supported by the API. Minimum is 1.0 and maximum is 1.39.',
        min_version: '1.0',
        max_version: '1.39',
      },
    ]);
  });

  it.each([
    ['the compute fault', computeFault, (body: string) => JSON.parse(body).computeFault.code],
    ['the API-SIG error', apiSigError, (body: string) => JSON.parse(body).errors[0].status],
    ['a form of one’s own', () => ({ contentType: 'text/x-own', body: '406' }), Number],
  ])('have the format of %s if it is configured', async (_, errors, statusIn) => {
    expect(statusIn((await sendRequest(bare({ ...compute, errors }), rejected)).body)).toBe(406);
  });

  it('are passed to next after their headers have been set, if configured', async () => {
    const negotiate = microversion({ ...compute, errors: 'next' });
    const result = await sendRequest((req, res) => {
      negotiate(req, res, (error) => {
        res.statusCode = 418;
        const { code, status, version, served } = error as UnacceptableVersion;
        res.end(JSON.stringify([error instanceof UnacceptableVersion, code, status, version, served]));
      });
    }, rejected);
    expect(result.status).toBe(418);
    expect(JSON.parse(result.body)).toEqual([
      true,
      'UNACCEPTABLE_VERSION',
      406,
      '2.101',
      { service: 'compute', min: '2.1', max: '2.100' },
    ]);
    expectVersion(result, '2.101');
  });
});

describe('the generic header style', () => {
  const options: MicroversionOptions = {
    service: 'key-manager',
    min: '1.0',
    max: '1.1',
    headerStyle: 'generic',
    errors: genericError,
  };
  const version = (text: string, accept?: string) => ({
    headers: { 'Service-API-Version': `key-manager ${text}`, ...(accept && { Accept: accept }) },
  });

  it('responds with one version header, normalized, and one Vary', async () => {
    const response = await sendRequest(bare(options), version('+01 . 01'));
    expect(response.body).toBe('1.1');
    expect(linesOf(response, 'Service-API-Version')).toEqual(['key-manager 1.1']);
    expect(linesOf(response, 'X-Service-API-Version')).toEqual([]);
    expect(linesOf(response, 'Vary')).toEqual(['Service-API-Version']);
  });

  it.each([
    ['2.0', 406, 'Invalid microversion: Unacceptable version header: 2.0'],
    ['nonsense', 400, 'Invalid microversion: '],
  ])('rejects %s with %i and no version header or Vary', async (text, status, message) => {
    const response = await sendRequest(bare(options), version(text, 'application/json'));
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body).message).toContain(message);
    expect(response.headers['service-api-version']).toBeUndefined();
    expect(response.headers.vary).toBeUndefined();
  });

  it.each([
    [undefined, 'text/plain; charset=UTF-8', '406 Not Acceptable'],
    ['application/xml', 'text/plain; charset=UTF-8', '406 Not Acceptable'],
    ['text/html', 'text/html; charset=UTF-8', '<h1>406 Not Acceptable</h1>'],
    ['*/*', 'text/html; charset=UTF-8', '<h1>406 Not Acceptable</h1>'],
    ['application/json', 'application/json; charset=UTF-8', '"code":"406 Not Acceptable","title":"Not Acceptable"'],
    ['text/html;q=0, application/json', 'application/json; charset=UTF-8', '"title":"Not Acceptable"'],
  ])('rejects in the format that Accept %s requests', async (accept, contentType, part) => {
    const response = await sendRequest(bare(options), version('2.0', accept));
    expect(response.headers['content-type']).toBe(contentType);
    expect(response.body).toContain(part);
  });

  it('escapes the client’s text in HTML', async () => {
    const response = await sendRequest(bare(options), version('<script>', 'text/html'));
    expect(response.body).not.toContain('<script>');
    expect(response.body).toContain('&lt;script&gt;');
  });

  it('uses the API-SIG format by default', async () => {
    const { errors: _, ...rest } = options;
    const { body } = await sendRequest(bare(rest), version('2.0'));
    expect(JSON.parse(body).errors[0]).toMatchObject({ status: 406, min_version: '1.0', max_version: '1.1' });
  });
});

describe('a pinned version', () => {
  it('is served without any version header', async () => {
    const response = await sendRequest(bare({ ...compute, pinned: '2.1' }), old('nonsense'));
    expect([response.status, response.body]).toEqual([200, '2.1']);
    for (const name of [...FOUR, 'Vary']) expect(response.headers[name.toLowerCase()]).toBeUndefined();
  });
});

describe('negotiation after routing', () => {
  const negotiate = negotiator(compute);

  it('sets the version and the headers of one request', async () => {
    const response = await sendRequest((req, res) => {
      const version = negotiate.apply(req, res);
      res.setHeader('Vary', 'Accept').end(`${version} ${microversionOf(req)}`);
    }, old('2.44'));
    expect(response.body).toBe('2.44 2.44');
    expect(linesOf(response, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it('throws the error after writing its headers', async () => {
    const response = await sendRequest((req, res) => {
      try {
        negotiate.apply(req, res);
      } catch (error) {
        res.end((error as Error).name);
      }
    }, old('2.101'));
    expect(response.body).toBe('UnacceptableVersion');
    expectVersion(response, '2.101');
  });

  it('can write the headers alone, after an existing Vary', async () => {
    const response = await sendRequest((_, res) => {
      res.setHeader('Vary', 'Accept');
      negotiate.applyVersionHeaders(res, '2.7');
      res.end();
    });
    expect(response.headers['x-service-api-version']).toBe('2.7');
    expect(linesOf(response, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });
});
