import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { Fuzzer } from './fuzzer.js';
import type { Operation } from './operations.js';

const body = { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer' } } };
const description = {
  minorVersions: [1, 100],
  parameters: [{ name: 'limit', in: 'query', schema: { type: 'string' } }],
  body,
} as const;

function operation(method: string, path: string): Operation {
  return {
    name: `${method} ${path}`,
    method,
    path,
    descriptions: [description],
    weight: 3,
    first: false,
    failures: new Set([501]),
  };
}

const operations = [
  operation('GET', '/servers/{id}'),
  operation('PUT', '/flavors/{id}'),
  operation('POST', '/servers'),
];

async function requestsOf(seed: number, status: number): Promise<{ requests: string[]; fuzzer: Fuzzer }> {
  const requests: string[] = [];
  const server = createServer(async (req, res) => {
    requests.push(`${req.method} ${req.url} ${req.headers['x-auth-token']} ${await text(req)}`);
    res.writeHead(status).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const fuzzer = new Fuzzer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, operations, seed);
  await fuzzer.run(80, Number.POSITIVE_INFINITY);
  return { requests: requests.sort(), fuzzer };
}

it('sends the same requests for the same seed, and different ones for another seed', async () => {
  const { requests, fuzzer } = await requestsOf(7, 404);
  expect(requests).toHaveLength(80);
  expect(fuzzer.findings).toEqual([]);
  expect((await requestsOf(7, 404)).requests).toEqual(requests);
  expect((await requestsOf(8, 404)).requests).not.toEqual(requests);
});

it('calls every operation, and accepts only documented failures', async () => {
  const { fuzzer } = await requestsOf(7, 501);
  expect([...fuzzer.called].sort()).toEqual(operations.map(({ name }) => name).sort());
  expect(fuzzer.findings).toEqual([]);
  expect((await requestsOf(7, 500)).fuzzer.findings.length).toBeGreaterThanOrEqual(20);
});
