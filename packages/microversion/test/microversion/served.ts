import type { RequestListener } from 'node:http';
import { expect } from 'vitest';
import { linesOf, type TestResponse } from '../../../../testing/send-request.js';
import { type MicroversionOptions, microversion, microversionOf } from '../../src/index.js';

export const compute: MicroversionOptions = { service: 'compute', min: '2.1', max: '2.100' };
export const FOUR = [
  'Service-API-Version',
  'OpenStack-API-Version',
  'X-Service-API-Version',
  'X-OpenStack-Nova-API-Version',
];

export function bare(options: MicroversionOptions, handler?: RequestListener): RequestListener {
  const negotiate = microversion(options);
  const sendVersion: RequestListener = (req, res) => void res.end(String(microversionOf(req)));
  return (req, res) => void negotiate(req, res, () => (handler ?? sendVersion)(req, res));
}

export function old(version: string | string[]) {
  return { headers: { 'X-Service-API-Version': version } };
}

export function expectVersion(response: TestResponse, version: string): void {
  expect(linesOf(response, 'Service-API-Version')).toEqual([`compute ${version}`]);
  expect(linesOf(response, 'X-Service-API-Version')).toEqual([version]);
  expect(linesOf(response, 'Vary')).toEqual(['Service-API-Version', 'X-Service-API-Version']);
}
