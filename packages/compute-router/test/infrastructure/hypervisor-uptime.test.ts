import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { describe, expect, it } from 'vitest';
import { apiUnderTest } from '../api-under-test.js';

describe('hypervisors of a driver without uptime', () => {
  it.each<[string, any]>([
    ['because it does not know how', undefined],
    ['because it does not know', async () => null],
    ['because it fails', async () => Promise.reject(new Error('no ssh'))],
  ])('show null since 2.88: %s', async (_, hostUptime) => {
    const driver = (clock: any) => Object.assign(new SimulatedDriver({ clock }), { hostUptime });
    const api = await apiUnderTest({ engine: { driver } });
    try {
      const { hypervisors } = (await api.as('admin:p1', '2.88').get('/os-hypervisors/detail')).body;
      expect(hypervisors.map(({ uptime }: any) => uptime)).toEqual([null, null]);
    } finally {
      await api.close();
    }
  });

  it('return 501 for the uptime alone', async () => {
    const driver = (clock: any) => Object.assign(new SimulatedDriver({ clock }), { hostUptime: undefined });
    const api = await apiUnderTest({ engine: { driver } });
    try {
      const admin = api.as('admin:p1');
      const [{ id }] = (await admin.get('/os-hypervisors')).body.hypervisors;
      const response = await admin.get(`/os-hypervisors/${id}/uptime`);
      expect([response.status, response.body.notImplemented.code]).toEqual([501, 501]);
    } finally {
      await api.close();
    }
  });
});
