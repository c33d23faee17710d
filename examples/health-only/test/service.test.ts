import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';
import { createService } from '../src/service.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-shop-'));
const drainFile = join(folder, 'drain');
let oldestMs = 0;
const orders = { waiting: () => 3, oldestMs: () => oldestMs };
const { app, health } = createService({ drainFile, operatorNetworks: '127.0.0.1, ::1', orders });

afterAll(() => {
  for (const endpoint of health) endpoint.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the example service', () => {
  it('serves its orders and two health endpoints', async () => {
    await request(app).get('/orders').expect(200, { waiting: 3 });
    await request(app).head('/healthcheck').expect(204);
    await request(app).get('/healthcheck').expect(200, 'OK\nOK');
  });

  it('shows operators the details of its own check, but not through a proxy', async () => {
    oldestMs = 90_000;
    const { body } = await request(app).get('/internal/health').accept('application/json').expect(200);
    expect(body.reasons[0]).toEqual({
      class: 'HealthcheckResult',
      duration_ms: expect.any(Number),
      last_change: expect.any(String),
      name: 'stuck_orders',
      details: '3 orders are waiting, the oldest for 90 s',
      reason: 'ORDERS LATE',
    });
    expect(body.threads[0]).toContain('[main]');
    await request(app).get('/internal/health').set('X-Forwarded-For', '127.0.0.1').expect(404);
  });

  it('fails while orders are stuck', async () => {
    oldestMs = 700_000;
    await request(app).get('/readyz').expect(503, 'OK\nORDERS STUCK');
    oldestMs = 0;
    await request(app).get('/readyz').expect(200);
  });

  it('fails its health check while the drain file exists or it shuts down, but stays alive and serves requests', async () => {
    writeFileSync(drainFile, '');
    await request(app).get('/healthcheck').expect(503, 'DISABLED BY FILE\nOK');
    rmSync(drainFile);
    await request(app).get('/healthcheck').expect(200);
    for (const endpoint of health) endpoint.shutdown();
    await request(app).get('/healthcheck').expect(503, 'SHUTTING DOWN');
    await request(app).get('/livez').expect(200);
    await request(app).get('/orders').expect(200);
  });
});
