import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { headerNames, ownHeaders } from '../../../testing/own-headers.js';
import { sendRequest } from '../../../testing/send-request.js';
import {
  corsHeaders,
  genReqId,
  headersFor,
  type IdFormat,
  type PresetName,
  type RequestIdOptions,
  requestId,
  requestIdOf,
} from '../src/index.js';
import { PRESETS } from '../src/presets.js';

interface Seen {
  readonly id: string;
  readonly local: string;
  readonly global?: string;
  readonly calls: Record<string, string>;
  readonly response: IncomingHttpHeaders;
}

/** The ids that a handler and a client receive for these headers. */
async function seen(options: RequestIdOptions, sent: Record<string, string> = {}): Promise<Seen> {
  const ids = requestId(options);
  const { body, headers } = await sendRequest(
    (req, res) =>
      ids(req, res, () => {
        const { id } = req as typeof req & { id: string };
        res.end(JSON.stringify({ id, ...requestIdOf(req), calls: headersFor(req) }));
      }),
    { headers: sent },
  );
  return { ...JSON.parse(body), response: headers as IncomingHttpHeaders };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const ROOT = '1-67891233-abcdef012345678912345678';

interface Row {
  readonly preset: PresetName;
  readonly header: string;
  /** Header values, each with the resulting id; undefined if the value is dropped. */
  readonly values: readonly (readonly [value: string, id: string | undefined])[];
  readonly fresh: RegExp;
}

const ROWS: readonly Row[] = [
  {
    preset: 'any',
    header: 'X-Request-Id',
    values: [
      ['order-4711', 'order-4711'],
      ['  a.b:c/d+e=f~g@h_i  ', 'a.b:c/d+e=f~g@h_i'],
      ['x'.repeat(128), 'x'.repeat(128)],
      ['x'.repeat(129), undefined],
      ['two words', undefined],
      ['<script>', undefined],
      ['a,b', undefined],
      ['"quoted"', undefined],
      ['', undefined],
    ],
    fresh: UUID,
  },
  {
    preset: 'nginx',
    header: 'X-Request-Id',
    values: [
      [TRACE, TRACE],
      [TRACE.toUpperCase(), undefined],
      [`${TRACE}0`, undefined],
    ],
    fresh: /^[0-9a-f]{32}$/,
  },
  {
    preset: 'envoy',
    header: 'X-Request-Id',
    values: [
      ['a1d5a0b2-1c1f-9d3e-8f00-0123456789ab', 'a1d5a0b2-1c1f-9d3e-8f00-0123456789ab'],
      [TRACE, undefined],
    ],
    fresh: UUID,
  },
  {
    preset: 'aws',
    header: 'X-Amzn-Trace-Id',
    values: [
      [`Root=${ROOT}`, ROOT],
      [`Self=1-67891234-12456789abcdef012345678;Root=${ROOT};Parent=463ac35c9f6413ad;Sampled=1`, ROOT],
      ['Root=1-67891233-abc', undefined],
      [`Root=${ROOT}${';a=b'.repeat(200)}`, undefined],
    ],
    fresh: /^1-[0-9a-f]{8}-[0-9a-f]{24}$/,
  },
  {
    preset: 'heroku',
    header: 'X-Request-Id',
    values: [
      ['30f14c6c1fc85cba12bfd093aa8f90e3', '30f14c6c1fc85cba12bfd093aa8f90e3'],
      ['too-short', undefined],
      ['x'.repeat(201), undefined],
    ],
    fresh: UUID,
  },
  {
    preset: 'cloudflare',
    header: 'CF-Ray',
    values: [
      ['230b030023ae2822-SJC', '230b030023ae2822-SJC'],
      ['230b030023ae2822', '230b030023ae2822'],
      ['230b030023ae2822-sjc1', undefined],
    ],
    fresh: UUID,
  },
  {
    preset: 'w3c',
    header: 'traceparent',
    values: [
      [`00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
      [`cc-${TRACE}-00f067aa0ba902b7-01-what-the-future-will-be-like`, TRACE],
      [`ff-${TRACE}-00f067aa0ba902b7-01`, undefined],
      [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
      [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
      [`00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    ],
    fresh: /^[0-9a-f]{32}$/,
  },
];

describe.each(ROWS)('the preset $preset', ({ preset, header, values, fresh }) => {
  it.each(values)('maps the header %j to the id %j', async (value, id) => {
    const dropped: string[] = [];
    const request = await seen({ preset, onDropped: (each) => dropped.push(each.header) }, { [header]: value });
    expect(request.global).toBe(id);
    if (id === undefined) expect(request.local).toMatch(fresh);
    else expect(request.local).toBe(id);
    expect(dropped).toEqual(id === undefined && value !== '' ? [header] : []);
    expect([request.id, request.response['x-request-id']]).toEqual([request.local, request.local]);
  });

  it('generates ids of its format, which it accepts itself', async () => {
    const first = await seen({ preset });
    const second = await seen({ preset });
    expect([first.local, second.local]).toEqual([expect.stringMatching(fresh), expect.stringMatching(fresh)]);
    expect(second.local).not.toBe(first.local);
    const next = await seen({ preset, inbound: ['X-Own'], accept: fresh }, { 'X-Own': first.local });
    expect(next.local).toBe(first.local);
  });
});

describe('the headers of outgoing calls', () => {
  it('match the preset', async () => {
    expect((await seen({}, { 'X-Request-Id': 'a1' })).calls).toEqual({ 'X-Request-Id': 'a1' });
    expect((await seen({ preset: 'cloudflare' }, { 'CF-Ray': '230b030023ae2822-SJC' })).calls).toEqual({
      'X-Request-Id': '230b030023ae2822-SJC',
    });
    expect((await seen({ preset: 'aws' }, { 'X-Amzn-Trace-Id': `Root=${ROOT};Sampled=1` })).calls).toEqual({
      'X-Amzn-Trace-Id': `Root=${ROOT}`,
    });
  });

  it('continue a trace with its flags and state, as the parent of a new span', async () => {
    const inbound = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: 'congo=t61rcWkgMzE' };
    const { calls } = await seen({ preset: 'w3c' }, inbound);
    expect(calls).toEqual({
      traceparent: expect.stringMatching(new RegExp(`^00-${TRACE}-(?!0{16})[0-9a-f]{16}-01$`)),
      tracestate: inbound.tracestate,
    });
    expect(calls.traceparent).not.toBe(inbound.traceparent);
  });

  it('start a trace without the state of a malformed one', async () => {
    const { calls, local } = await seen({ preset: 'w3c' }, { traceparent: 'broken', tracestate: 'congo=t61' });
    expect(Object.keys(calls)).toEqual(['traceparent']);
    expect(calls.traceparent).toContain(`00-${local}-`);
    expect(calls.traceparent).toMatch(/-00$/);
  });
});

describe('the options of a preset', () => {
  it('replace its parts', async () => {
    const options = { headers: ['X-Trace'], inbound: ['X-Correlation-Id'], adopt: false } as const;
    const request = await seen(options, { 'X-Correlation-Id': 'theirs' });
    expect(request).toMatchObject({ global: 'theirs', calls: { 'X-Correlation-Id': 'theirs' } });
    expect(request.local).toMatch(UUID);
    expect(request.response['x-trace']).toBe(request.local);
    expect(request.response['x-request-id']).toBeUndefined();
  });

  it('do not set req.id with assign: false', async () => {
    expect((await seen({ assign: false })).id).toBeUndefined();
  });

  it('name the headers for CORS', () => {
    const one = { exposedHeaders: ['X-Request-Id'], allowedHeaders: ['X-Request-Id'] };
    expect(corsHeaders()).toEqual(one);
    expect(corsHeaders({ preset: 'w3c' })).toEqual({ ...one, allowedHeaders: ['traceparent'] });
  });

  it.each(Object.keys(PRESETS) as PresetName[])('expose with CORS the headers that %s sends', async (preset) => {
    const ids = requestId({ preset });
    const response = await sendRequest((req, res) => ids(req, res, () => res.end()));
    const { exposedHeaders } = corsHeaders({ preset });
    expect(exposedHeaders).not.toEqual([]);
    expect(headerNames(exposedHeaders)).toEqual(ownHeaders([response]));
  });
});

describe('the formats of ids', () => {
  const many = async (generate: IdFormat) => {
    const ids = requestId({ generate, context: false });
    return Array.from({ length: 20_000 }, () => {
      const req = { headers: {} } as any;
      ids(req, { headersSent: true } as any, () => undefined);
      return req.id as string;
    });
  };

  it.each<[IdFormat, RegExp]>([
    ['uuid', UUID],
    ['uuidv7', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
    ['short', /^[\w-]{16}-[0-9a-z]{1,6}$/],
  ])('%s are unique and look like %s', async (generate, form) => {
    const ids = await many(generate);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !form.test(id))).toEqual([]);
  });

  it('uuidv7 start with the time', async () => {
    const before = Date.now();
    const { local } = await seen({ generate: 'uuidv7' });
    const time = Number.parseInt(local.replaceAll('-', '').slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  });

  it('uuidv7 use every variant digit', async () => {
    expect(new Set((await many('uuidv7')).map((id) => id[19]))).toEqual(new Set(['8', '9', 'a', 'b']));
  });
});

it('a logger before the middleware reserves the inbound id', async () => {
  const ids = requestId();
  const { body, headers } = await sendRequest(
    (req, res) => {
      const logged = genReqId(req);
      ids(req, res, () => res.end(JSON.stringify([logged, requestIdOf(req)!.local])));
    },
    { headers: { 'X-Request-Id': 'from-proxy' } },
  );
  expect([...JSON.parse(body), headers['x-request-id']]).toEqual(['from-proxy', 'from-proxy', 'from-proxy']);
});
