import { describe, expect, it } from 'vitest';
import { ask, linesOf } from '../../../../testing/ask.js';
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
  const refused = old('2.101');

  it('of another service have the API-SIG form, with the range that is served', async () => {
    const answer = await ask(bare({ service: 'placement', min: '1.0', max: '1.39' }), {
      headers: { 'Service-API-Version': 'placement 1.40' },
    });
    expect(answer.status).toBe(406);
    expect(JSON.parse(answer.body).errors).toEqual([
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
  ])('take the form of %s when it is chosen', async (_, errorBody, statusIn) => {
    expect(statusIn((await ask(bare({ ...compute, errorBody }), refused)).body)).toBe(406);
  });

  it('go to next with their headers set, when that is chosen', async () => {
    const negotiate = microversion({ ...compute, errors: 'next' });
    const answer = await ask((req, res) => {
      negotiate(req, res, (error) => {
        res.statusCode = 418;
        const { code, status, version, served } = error as UnacceptableVersion;
        res.end(JSON.stringify([error instanceof UnacceptableVersion, code, status, version, served]));
      });
    }, refused);
    expect(answer.status).toBe(418);
    expect(JSON.parse(answer.body)).toEqual([
      true,
      'UNACCEPTABLE_VERSION',
      406,
      '2.101',
      { service: 'compute', min: '2.1', max: '2.100' },
    ]);
    expectVersion(answer, '2.101');
  });
});

describe('the generic flavour', () => {
  const options: MicroversionOptions = {
    service: 'key-manager',
    min: '1.0',
    max: '1.1',
    flavour: 'generic',
    errorBody: genericError,
  };
  const version = (text: string, accept?: string) => ({
    headers: { 'Service-API-Version': `key-manager ${text}`, ...(accept && { Accept: accept }) },
  });

  it('answers with one version header, normalised, and one Vary', async () => {
    const answer = await ask(bare(options), version('+01 . 01'));
    expect(answer.body).toBe('1.1');
    expect(linesOf(answer, 'Service-API-Version')).toEqual(['key-manager 1.1']);
    expect(linesOf(answer, 'X-Service-API-Version')).toEqual([]);
    expect(linesOf(answer, 'Vary')).toEqual(['Service-API-Version']);
  });

  it.each([
    ['2.0', 406, 'Invalid microversion: Unacceptable version header: 2.0'],
    ['nonsense', 400, 'Invalid microversion: '],
  ])('refuses %s with %i and no version header or Vary', async (text, status, message) => {
    const answer = await ask(bare(options), version(text, 'application/json'));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body).message).toContain(message);
    expect(answer.headers['service-api-version']).toBeUndefined();
    expect(answer.headers.vary).toBeUndefined();
  });

  it.each([
    [undefined, 'text/plain; charset=UTF-8', '406 Not Acceptable'],
    ['application/xml', 'text/plain; charset=UTF-8', '406 Not Acceptable'],
    ['text/html', 'text/html; charset=UTF-8', '<h1>406 Not Acceptable</h1>'],
    ['*/*', 'text/html; charset=UTF-8', '<h1>406 Not Acceptable</h1>'],
    ['application/json', 'application/json; charset=UTF-8', '"code":"406 Not Acceptable","title":"Not Acceptable"'],
    ['text/html;q=0, application/json', 'application/json; charset=UTF-8', '"title":"Not Acceptable"'],
  ])('refuses in the form that Accept %s asks for', async (accept, contentType, part) => {
    const answer = await ask(bare(options), version('2.0', accept));
    expect(answer.headers['content-type']).toBe(contentType);
    expect(answer.body).toContain(part);
  });

  it('escapes the client’s text in HTML', async () => {
    const answer = await ask(bare(options), version('<script>', 'text/html'));
    expect(answer.body).not.toContain('<script>');
    expect(answer.body).toContain('&lt;script&gt;');
  });

  it('uses the API-SIG form unless told otherwise', async () => {
    const { errorBody: _, ...rest } = options;
    const { errors } = JSON.parse((await ask(bare(rest), version('2.0'))).body);
    expect(errors[0]).toMatchObject({ status: 406, min_version: '1.0', max_version: '1.1' });
  });
});

describe('a pinned version', () => {
  it('is served without any version header', async () => {
    const answer = await ask(bare({ ...compute, pinned: '2.1' }), old('nonsense'));
    expect([answer.status, answer.body]).toEqual([200, '2.1']);
    for (const name of [...FOUR, 'Vary']) expect(answer.headers[name.toLowerCase()]).toBeUndefined();
  });
});

describe('negotiation after routing', () => {
  const negotiate = negotiator(compute);

  it('settles the version of one request, headers and all', async () => {
    const answer = await ask((req, res) => {
      const version = negotiate.apply(req, res);
      res.setHeader('Vary', 'Accept').end(`${version} ${microversionOf(req)}`);
    }, old('2.44'));
    expect(answer.body).toBe('2.44 2.44');
    expect(linesOf(answer, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it('throws what is wrong, with the headers of that error written', async () => {
    const answer = await ask((req, res) => {
      try {
        negotiate.apply(req, res);
      } catch (error) {
        res.end((error as Error).name);
      }
    }, old('2.101'));
    expect(answer.body).toBe('UnacceptableVersion');
    expectVersion(answer, '2.101');
  });

  it('can write the headers by themselves, behind a Vary that is there', async () => {
    const answer = await ask((_, res) => {
      res.setHeader('Vary', 'Accept');
      negotiate.applyVersionHeaders(res, '2.7');
      res.end();
    });
    expect(answer.headers['x-service-api-version']).toBe('2.7');
    expect(linesOf(answer, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });
});
