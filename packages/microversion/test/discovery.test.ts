import type { RequestListener } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { type ApiVersion, type DiscoveryOptions, discovery, requestBase } from '../src/index.js';

const versions: readonly ApiVersion[] = [
  { id: 'v2.0', path: '/v2/', status: 'SUPPORTED', updated: '2011-01-21T11:33:21Z' },
  {
    id: 'v2.1',
    status: 'CURRENT',
    min: '2.1',
    max: '2.100',
    updated: '2013-07-23T11:33:21Z',
    mediaTypes: [{ base: 'application/json', type: 'application/vnd.example+json;version=2.1' }],
    describedBy: 'https://docs.example.org/',
  },
];
const docs = discovery({ versions });
const host = { headers: { Host: 'cloud.example:8774' } };

const V21 = {
  id: 'v2.1',
  status: 'CURRENT',
  version: '2.100',
  min_version: '2.1',
  updated: '2013-07-23T11:33:21Z',
};

describe('the list of versions', () => {
  it('shows each version with one absolute self link that ends in a slash', async () => {
    const response = await sendRequest(docs.list, host);
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(response.body)).toEqual({
      versions: [
        {
          id: 'v2.0',
          status: 'SUPPORTED',
          version: '',
          min_version: '',
          updated: '2011-01-21T11:33:21Z',
          links: [{ rel: 'self', href: 'http://cloud.example:8774/v2/' }],
        },
        { ...V21, links: [{ rel: 'self', href: 'http://cloud.example:8774/v2.1/' }] },
      ],
    });
  });
});

describe('the document of a version', () => {
  it('shows media types, the same self link and a link to the description', async () => {
    const result = await sendRequest(docs.document('v2.1'), { path: '/v2.1', ...host });
    expect(result.status).toBe(200);
    expect(JSON.parse(result.body)).toEqual({
      version: {
        ...V21,
        links: [
          { rel: 'self', href: 'http://cloud.example:8774/v2.1/' },
          { rel: 'describedby', type: 'text/html', href: 'https://docs.example.org/' },
        ],
        'media-types': versions[1]!.mediaTypes,
      },
    });
  });

  it('exists only for existing versions', () => {
    expect(() => docs.document('v3')).toThrow(/unknown version 'v3' \(known: v2\.0, v2\.1\)/);
  });
});

describe('the choices', () => {
  it('return 300 with the path below every version', async () => {
    const response = await sendRequest(docs.choices, { path: '/servers?x=1', ...host });
    expect(response.status).toBe(300);
    const { choices } = JSON.parse(response.body);
    expect(choices.map((choice: any) => choice.links[0].href)).toEqual([
      'http://cloud.example:8774/v2/servers',
      'http://cloud.example:8774/v2.1/servers',
    ]);
    expect(Object.keys(choices[1]).sort()).toEqual(['id', 'links', 'media-types', 'status']);
  });
});

describe('the base of the links', () => {
  const forwarded = {
    Host: 'inner:1',
    'X-Forwarded-Proto': 'https, http',
    'X-Forwarded-Host': 'api.example.org, proxy',
    'X-Forwarded-Prefix': '/compute/',
  };

  async function baseFor(headers: Record<string, string>, options: Omit<DiscoveryOptions, 'versions'> = {}) {
    const documents = discovery({ versions, ...options });
    const response = await sendRequest(documents.list, { headers });
    return JSON.parse(response.body).versions[1].links[0].href.replace(/\/v2\.1\/$/, '');
  }

  it('ignores forwarding headers unless the proxy is trusted', async () => {
    expect(await baseFor(forwarded)).toBe('http://inner:1');
    expect(await baseFor(forwarded, { trustProxy: false })).toBe('http://inner:1');
  });

  it('honors the outermost of each forwarding header from a trusted proxy', async () => {
    expect(await baseFor(forwarded, { trustProxy: true })).toBe('https://api.example.org/compute');
    const trustProxy = (req: any) => req.socket.remoteAddress === '127.0.0.1';
    expect(await baseFor(forwarded, { trustProxy })).toBe('https://api.example.org/compute');
  });

  it('ignores malformed schemes, hosts and paths', async () => {
    const broken = {
      Host: 'inner:1',
      'X-Forwarded-Proto': 'javascript',
      'X-Forwarded-Host': 'a b"<',
      'X-Forwarded-Prefix': '//evil.example/"',
    };
    expect(await baseFor(broken, { trustProxy: true })).toBe('http://inner:1');
  });

  it('falls back to the address of the connection for an invalid Host', async () => {
    expect(await baseFor({ Host: '"><script>' })).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('accepts IPv6 hosts', async () => {
    expect(await baseFor({ Host: '[::1]:8774' })).toBe('http://[::1]:8774');
  });

  it('can be configured', async () => {
    expect(await baseFor(forwarded, { base: 'https://fixed.example/' })).toBe('https://fixed.example');
    expect(await baseFor(forwarded, { base: (req) => `https://${req.method}.example` })).toBe('https://GET.example');
  });

  it('contains the mount path of an Express application, and follows its trust in proxies', async () => {
    const href = async (trust: boolean) => {
      const inner = express.Router().get('/', docs.list);
      const app = express().use('/compute', inner);
      app.set('trust proxy', trust);
      const headers = { Host: 'inner:1', 'X-Forwarded-Proto': 'https' };
      const response = await sendRequest(app, { path: '/compute/', headers });
      return JSON.parse(response.body).versions[1].links[0].href;
    };
    expect(await href(false)).toBe('http://inner:1/compute/v2.1/');
    expect(await href(true)).toBe('https://inner:1/compute/v2.1/');
  });

  it('is the same for the document of a version whose router is mounted at its own path', async () => {
    const app = express().use('/compute/v2.1', express.Router().get('/', docs.document('v2.1')));
    const response = await sendRequest(app, { path: '/compute/v2.1', headers: { Host: 'inner:1' } });
    expect(JSON.parse(response.body).version.links[0].href).toBe('http://inner:1/compute/v2.1/');
  });

  it('allows custom links', async () => {
    const listener: RequestListener = (req, res) => void res.end(requestBase(req));
    expect((await sendRequest(listener, host)).body).toBe('http://cloud.example:8774');
  });
});

describe('an invalid option', () => {
  it('is rejected immediately', () => {
    expect(() => discovery({ versions, trust: true } as any)).toThrow(/unknown option 'trust'/);
    expect(() => discovery({ versions: [{ ...versions[0]!, minimum: '1' } as any] })).toThrow(
      /unknown option 'minimum'/,
    );
    expect(() => discovery({ versions: [{ ...versions[0]!, min: 'x' }] })).toThrow(/MAJOR\.MINOR/);
  });
});
