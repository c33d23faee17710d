import { memoryStore, projectQuotas, usageHandler } from '@apistrata/quota';
import express from 'express';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';

const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 500, drafts: -1 } });
const app = express().get('/usage', usageHandler({ quota, project: (req) => String(req.headers['x-account'] ?? '') }));

describe('usageHandler()', () => {
  it('shows used, remaining and a summary text for each kind', async () => {
    await quota.consume('acme', { invoices: 412, drafts: 3 });
    await quota.reserve('acme', { invoices: 1 });
    const { body, headers } = await supertest(app).get('/usage').set('X-Account', 'acme').expect(200);
    expect(body).toEqual({
      quotas: [
        { kind: 'invoices', used: 412, reserved: 1, limit: 500, remaining: 87, text: '412 of 500 used' },
        { kind: 'drafts', used: 3, reserved: 0, limit: null, remaining: null, text: '3 used' },
      ],
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  it('passes errors on, and requires its options', async () => {
    await supertest(app).get('/usage').expect(400);
    expect(() => usageHandler({ quota } as never)).toThrow('quota and project are required');
  });
});
