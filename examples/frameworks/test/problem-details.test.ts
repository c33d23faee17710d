import { type RequestListener, STATUS_CODES } from 'node:http';
import { healthcheck } from '@apistrata/healthcheck';
import { versioning } from '@apistrata/microversion';
import { createRouter } from '@apistrata/microversion-router';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';

type Errors = 'problem' | 'json';
const end = (res: Parameters<RequestListener>[1]) => () => void res.writeHead(204).end();

/** For each package: a listener that rejects every request, with the format of its errors. */
const REJECTING: Readonly<Record<string, (errors: Errors) => RequestListener>> = {
  healthcheck(errors) {
    const down = { name: 'db', check: () => ({ state: 'unavailable', reason: 'down' }) as const };
    const health = healthcheck({ backends: [down], path: false, errors, log: false });
    return (req, res) => void health(req, res, end(res));
  },
  microversion(errors) {
    const negotiate = versioning({ versions: ['1', '2'], default: 'required', errors });
    return (req, res) => negotiate(req, res, end(res));
  },
  'microversion-router': (errors) => createRouter({ operations: [], call: () => ({}), errors }),
  quota(errors) {
    const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 0 } });
    const enforce = enforceQuota({ quota, kind: 'notes', project: () => 'acme', errors });
    return (req, res) => void enforce(req, res, end(res));
  },
};

// request-id rejects no request, so it has no errors.
describe.each(Object.entries(REJECTING))('errors of %s', (_, create) => {
  it('are problem details (RFC 9457) with the same members', async () => {
    const { status, headers, body } = await sendRequest(create('problem'), { method: 'POST' });
    expect(headers['content-type']).toBe('application/problem+json');
    const problem = JSON.parse(body);
    expect(Object.keys(problem).slice(0, 4)).toEqual(['title', 'status', 'detail', 'code']);
    expect([problem.title, problem.status]).toEqual([STATUS_CODES[status], status]);
    expect([problem.code, problem.detail]).toEqual([expect.stringMatching(/^[A-Z]+(_[A-Z]+)*$/), expect.any(String)]);
  });

  it('are plain JSON with the same members', async () => {
    const { status, body } = await sendRequest(create('json'), { method: 'POST' });
    const { error } = JSON.parse(body);
    expect(Object.keys(error).slice(0, 3)).toEqual(['code', 'status', 'message']);
    expect(error.status).toBe(status);
  });
});
