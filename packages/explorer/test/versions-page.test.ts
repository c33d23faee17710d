import { operations } from '@apistrata/compute-router';
import { computeApiReference } from '@apistrata/compute-router/reference';
import { describe, expect, it, vi } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { explorer } from '../src/index.js';
import { ElementHistory } from '../src/model/element-history.js';

describe('the computation of all versions', () => {
  it('yields to the event loop', async () => {
    const compute = explorer({ operations, ...computeApiReference, min: '2.1', max: '2.100', path: '/docs' });
    let turns = 0;
    let isComplete = false;
    const count = () => {
      turns += 1;
      if (!isComplete) setImmediate(count);
    };
    count();
    const { status } = await sendRequest(compute, { path: '/docs/versions?counts' });
    isComplete = true;
    expect(status).toBe(200);
    expect(turns).toBeGreaterThan(2);
  });

  it('is not required for the list of versions', async () => {
    const compute = explorer({ operations, ...computeApiReference, min: '2.1', max: '2.100', path: '/docs' });
    const changes = vi.spyOn(ElementHistory.prototype, 'changeAt');
    const { body } = await sendRequest(compute, { path: '/docs/versions' });
    expect(new Set(changes.mock.calls.map(([version]) => version.text))).toEqual(new Set(['2.100']));
    changes.mockRestore();
    expect(body).toContain('data-counts="/docs/versions?counts"');
    expect(body).toContain('Adds server tags');
    expect(body).not.toContain('chip-warn');
    await sendRequest(compute, { path: '/docs/versions?counts' });
    expect((await sendRequest(compute, { path: '/docs/versions' })).body).toMatch(/chip-warn">\d+ changed/);
  });
});
