import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, stage } from './stage.js';

describe('the history of a server', () => {
  let on: Stage;
  let server: any;
  const actions = ['pause', 'unpause', 'suspend', 'resume'];
  beforeAll(async () => {
    on = await stage();
    server = await on.ada('2.37').boot({ name: 'watched' });
    on.driver.addRule({ match: { name: 'watched', verb: 'reboot' }, fail: 'no answer from the machine' });
    for (const action of actions) {
      await on.clock.advance(1000);
      await on.ada().act(server.id, action);
    }
    await on.clock.advance(1000);
    await on.ada().act(server.id, 'reboot', { type: 'SOFT' });
  });
  afterAll(async () => {
    expect(on.api.errors).toEqual([]);
    await on.api.close();
  });

  const path = (rest = '') => `/servers/${server.id}/os-instance-actions${rest}`;
  const names = async (query: string, version = '2.66') =>
    (await on.ada(version).get(path(query))).body.instanceActions.map(({ action }: any) => action);

  it('is newest first, one action for each request', async () => {
    expect(await names('')).toEqual(['reboot', 'resume', 'suspend', 'unpause', 'pause', 'create']);
  });

  it('is paged, and can be filtered by time', async () => {
    const { instanceActions, links } = (await on.ada('2.66').get(path('?limit=2'))).body;
    expect(instanceActions).toHaveLength(2);
    expect(new URL(links[0].href).searchParams.get('marker')).toBe(instanceActions[1].request_id);
    expect(await names(`?limit=2&marker=${instanceActions[1].request_id}`)).toEqual(['suspend', 'unpause']);
    expect(await names('?limit=0')).toEqual([]);
    const { updated_at } = instanceActions[1];
    expect(await names(`?changes-since=${updated_at}`)).toEqual(['reboot', 'resume']);
    expect(await names(`?changes-before=${updated_at}`)).toEqual(['resume', 'suspend', 'unpause', 'pause', 'create']);
    expect((await on.ada('2.66').get(path(`?changes-since=2030-01-01&changes-before=2020-01-01`))).status).toBe(400);
    expect((await on.ada('2.66').get(path('?marker=req-x'))).status).toBe(400);
    expect((await on.ada('2.58').get(path('?x=1'))).status).toBe(400);
    expect((await on.ada('2.65').get(path(`?changes-before=${updated_at}`))).status).toBe(400);
    expect(await names('?limit=1&x=1', '2.57')).toHaveLength(6);
  });

  it('shows a failure: the message, and for administrators the details and the host', async () => {
    const [failed] = (await on.ada('2.84').get(path())).body.instanceActions;
    expect(failed).toMatchObject({ action: 'reboot', message: 'Error', project_id: 'p1', user_id: 'ada' });
    const seen = async (version: string, user: 'ada' | 'admin') =>
      (await on[user](version).get(path(`/${failed.request_id}`))).body.instanceAction;
    expect(await seen('2.50', 'ada')).not.toHaveProperty('events');
    expect(Object.keys((await seen('2.51', 'ada')).events[0]).sort()).toEqual([
      'event',
      'finish_time',
      'result',
      'start_time',
    ]);
    expect(Object.keys((await seen('2.62', 'ada')).events[0])).toContain('hostId');
    const [event] = (await seen('2.84', 'admin')).events;
    expect(event).toMatchObject({
      event: 'compute_reboot_instance',
      result: 'Error',
      details: 'no answer from the machine',
      traceback: expect.stringContaining('no answer from the machine'),
      host: expect.stringMatching(/^[ab][12]$/),
      hostId: expect.stringMatching(/^[0-9a-f]{56}$/),
    });
    for (const [version, key] of [
      ['2.83', 'details'],
      ['2.61', 'host'],
    ] as const)
      expect((await seen(version, 'admin')).events[0]).not.toHaveProperty(key);
    expect((await seen('2.84', 'ada')).events[0]).not.toHaveProperty('details');
    expect((await on.ada('2.84').get(path('/req-unknown'))).status).toBe(404);
  });

  it('shows a step while it is in progress', async () => {
    const rule = on.driver.addRule({ match: { name: 'busy', verb: 'pause' }, hang: true });
    const busy = await on.ada('2.37').boot({ name: 'busy' });
    const { headers } = await on.ada().post(`/servers/${busy.id}/action`, { pause: null });
    const one = `/servers/${busy.id}/os-instance-actions/${headers.get('x-compute-request-id')}`;
    const { body } = await on.until(
      () => on.ada('2.51').get(one),
      (seen) => seen.body.instanceAction.events.length > 0,
    );
    expect(body.instanceAction.events).toMatchObject([
      { event: 'compute_pause_instance', finish_time: null, result: null },
    ]);
    rule.remove();
    await on.api.idle();
    expect((await on.ada('2.51').get(one)).body.instanceAction.events).toMatchObject([{ result: 'Success' }]);
  });

  it('outlives the server since 2.21', async () => {
    const removed = await on.ada('2.37').boot();
    await on.ada().delete(`/servers/${removed.id}`);
    await on.api.idle();
    const list = `/servers/${removed.id}/os-instance-actions`;
    expect((await on.ada('2.20').get(list)).status).toBe(404);
    const { instanceActions } = (await on.ada('2.21').get(list)).body;
    expect(instanceActions.map(({ action }: any) => action)).toEqual(['delete', 'create']);
    expect((await on.ada('2.20').get(`${list}/${instanceActions[0].request_id}`)).status).toBe(404);
    expect((await on.ada('2.21').get(`${list}/${instanceActions[0].request_id}`)).status).toBe(200);
  });

  it('is visible only to its own project', async () => {
    expect((await on.api.as('bob:p2', '2.84').get(path())).status).toBe(404);
  });
});
