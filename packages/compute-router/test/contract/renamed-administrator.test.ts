import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { policies } from '../../src/index.js';
import { calls } from './calls/calls.js';
import { Cloud } from './cloud.js';
import { edgesOf, existsAt, keyOf, listedOperations } from './reference.js';
import { pathOf, sendRequest } from './send-request.js';

const served = listedOperations.filter(({ removed, base }) => !removed && !base);

/** Roles that the role `admin` implies. */
const BELOW_ADMIN = 'manager,member,reader';

/**
 * Callers in a standard cloud, and the same callers in a cloud with the administrator role `cloud_boss`, where `admin`
 * is an ordinary role. Administrators of another project see these resources only because they are administrators. The
 * numbers are the minimum numbers of operations that succeed.
 */
const callers = {
  'an administrator of another project': ['boss:p2:admin', 'boss:p2:cloud_boss', 200],
  'a former administrator of another project': [`bob:p2:${BELOW_ADMIN}`, 'bob:p2:admin', 35],
  'a former administrator': [`ada:p1:${BELOW_ADMIN}`, 'ada:p1:admin', 140],
} as const;

describe('a cloud whose context_is_admin requires another role', () => {
  let ordinary: Cloud;
  let renamed: Cloud;
  beforeAll(async () => {
    ordinary = await Cloud.open();
    renamed = await Cloud.open({
      owner: 'admin:p1:cloud_boss',
      policies: policies({ overrides: { context_is_admin: 'role:cloud_boss' } }),
    });
  });
  afterAll(() => Promise.all([ordinary.api.close(), renamed.api.close()]));

  // Policy decisions do not depend on the database: the second database is tested with the first caller only.
  const sampled = Object.entries(callers).slice(0, inject('database') === 'postgres' ? 1 : undefined);

  describe.each(sampled)('%s', (_, [ordinarily, otherwise, leastSuccesses]) => {
    const successes: string[] = [];

    it.each(served.map((listed) => [keyOf(listed), listed] as const))(
      'returns the same status to %s',
      async (key, listed) => {
        const version = edgesOf(listed)
          .filter((edge) => existsAt(listed, edge))
          .at(-1)!;
        const statusIn = async (cloud: Cloud, token: string) => {
          const { params, body, query, after } = await calls[key]!(cloud, version);
          const path = pathOf(listed, params);
          const response = await sendRequest(cloud.api, listed.method, { token, version, path, query, body });
          await after?.();
          await cloud.api.idle();
          return response.status;
        };
        const status = await statusIn(renamed, otherwise);
        expect(status).toBe(await statusIn(ordinary, ordinarily));
        if (status < 300) successes.push(key);
      },
    );

    it(`succeeds with at least ${leastSuccesses} operations`, () => {
      expect(successes.length).toBeGreaterThanOrEqual(leastSuccesses);
    });
  });

  it('lists, filters and sorts servers of all projects for the new role only', async () => {
    const { id } = await renamed.server();
    const list = async (token: string, query: string) => renamed.api.as(token, '2.96').get(`/servers?${query}`);
    for (const query of ['all_tenants=1', 'sort_key=host', 'status=deleted']) {
      const statuses = [await list('boss:p2:cloud_boss', query), await list('boss:p2:admin', query)];
      expect([query, ...statuses.map(({ status }) => status)]).toEqual([query, 200, 403]);
    }
    const everybodys = await list('boss:p2:cloud_boss', 'all_tenants=1&project_id=p1');
    expect(everybodys.body.servers).toContainEqual(expect.objectContaining({ id }));
  });

  it('shows private flavors to the new role only', async () => {
    const id = await renamed.flavor({ 'os-flavor-access:is_public': false });
    const status = async (token: string) => (await renamed.api.as(token).get(`/flavors/${id}`)).status;
    expect([await status('boss:p2:cloud_boss'), await status('boss:p2:admin')]).toEqual([200, 404]);
  });
});
