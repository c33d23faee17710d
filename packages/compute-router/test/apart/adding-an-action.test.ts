import { readFileSync } from 'node:fs';
import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Api, apiUnderTest, type Client } from '../api-under-test.js';
import { nap } from '../servers-actions/nap.example.js';

// The lines that a new action adds to the lists of operations and rules.
vi.mock('../../src/operations/index.js', async (load) => {
  const { operations } = await load<typeof import('../../src/operations/index.js')>();
  const { napServer } = await import('../servers-actions/nap.operation.example.js');
  return { operations: [...operations, napServer] };
});
vi.mock('../../src/policy/rules.js', async (load) => {
  const { RULES, ...rest } = await load<typeof import('../../src/policy/rules.js')>();
  return { ...rest, RULES: { ...RULES, 'os_compute_api:servers:nap': 'project_member_or_admin' } };
});

describe('an example action through the public API', () => {
  let api: Api;
  let ada: Client;
  let driver: SimulatedDriver;

  beforeEach(async () => {
    api = await apiUnderTest({
      engine: {
        actions: [nap],
        driver: (clock) => {
          driver = new SimulatedDriver({ clock });
          return driver;
        },
      },
    });
    ada = api.as('ada:p1', '2.90');
  });
  afterEach(async () => {
    await api.close();
  });

  it('is checked, runs in the background, and is recorded with its steps', async () => {
    const { id } = await ada.boot();
    expect(await ada.act(id, 'nap', { seconds: 3 })).toMatchObject({ status: 202, body: { wakes_in: 3 } });
    const { body } = await ada.get(`/servers/${id}`);
    expect(body.server).toMatchObject({ status: 'ACTIVE', 'OS-EXT-STS:task_state': null });
    const history = (await ada.get(`/servers/${id}/os-instance-actions`)).body.instanceActions;
    expect(history.map((entry: { action: string }) => entry.action)).toEqual(['nap', 'create']);
    const steps = (await api.as('admin:p1', '2.90').get(`/servers/${id}/os-instance-actions/${history[0].request_id}`))
      .body;
    const events = steps.instanceAction.events.map(({ event, result }: Record<string, string>) => [event, result]);
    expect(events.sort()).toEqual([
      ['compute_nap_instance', 'Success'],
      ['compute_wake_instance', 'Success'],
    ]);
  });

  it('is rejected by its rules, its own checks, the policy, and the schema of its body', async () => {
    const { id } = await ada.boot();
    expect(await ada.act(id, 'nap', { seconds: 61 })).toMatchObject({ status: 400 });
    expect(await ada.act(id, 'nap', { minutes: 1 })).toMatchObject({ status: 400 });
    expect(await api.as('eve:p1:reader', '2.90').act(id, 'nap', { seconds: 3 })).toMatchObject({ status: 403 });
    await ada.act(id, 'os-stop', null);
    expect(await ada.act(id, 'nap', { seconds: 3 })).toMatchObject({
      status: 409,
      body: { conflictingRequest: { message: `Cannot 'nap' instance ${id} while it is in vm_state stopped` } },
    });
  });

  it('ends as its record defines when the machine fails', async () => {
    const { id } = await ada.boot();
    driver.addRule({ match: { action: 'nap', verb: 'unpause' }, fail: 'it sleeps too well' });
    await ada.act(id, 'nap', { seconds: 3 });
    expect((await ada.get(`/servers/${id}`)).body.server).toMatchObject({ status: 'ERROR' });
  });
});

describe('docs/adding-an-action.md', () => {
  const page = readFileSync(new URL('../../../../docs/adding-an-action.md', import.meta.url), 'utf8');
  const shown = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8').trim();

  it('contains the exact record of this test', () => {
    expect(page).toContain(shown('../servers-actions/nap.example.ts'));
  });

  it('contains the exact operation of this test', () => {
    expect(page).toContain(
      shown('../servers-actions/nap.operation.example.ts')
        .replace(/ *\/\/ @ts-expect-error.*\n/, '')
        .replaceAll('../../src/operations/servers/', './')
        .replaceAll('../../src/', '../../'),
    );
  });
});
