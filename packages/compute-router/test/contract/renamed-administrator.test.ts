import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { policies } from '../../src/index.js';
import { ask, pathOf } from './ask.js';
import { calls } from './calls/calls.js';
import { Cloud } from './cloud.js';
import { edgesOf, existsAt, keyOf, listedOperations } from './reference.js';

const served = listedOperations.filter(({ removed, base }) => !removed && !base);

/** Roles below the administrator's, as the role `admin` implies them. */
const BELOW_ADMIN = 'manager,member,reader';

/**
 * Who calls in the ordinary cloud, and the same in one where `cloud_boss` is the administrator's role and `admin` is a
 * role like others. Administrators of another project have nothing but their being one to see these things by.
 */
const callers = {
  'an administrator of another project': ['boss:p2:admin', 'boss:p2:cloud_boss'],
  'somebody who once was administrator, of another project': [`bob:p2:${BELOW_ADMIN}`, 'bob:p2:admin'],
  'somebody who once was administrator': [`ada:p1:${BELOW_ADMIN}`, 'ada:p1:admin'],
} as const;

describe('where context_is_admin names another role', () => {
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

  // What policies decide does not depend on the database: on the second one, those who have to see most stand for all.
  const sampled = Object.entries(callers).slice(0, inject('database') === 'postgres' ? 1 : undefined);

  describe.each(sampled)('%s', (_, [ordinarily, otherwise]) => {
    it.each(served.map((listed) => [keyOf(listed), listed] as const))(
      'is answered alike by %s',
      async (key, listed) => {
        const version = edgesOf(listed)
          .filter((edge) => existsAt(listed, edge))
          .at(-1)!;
        const statusIn = async (cloud: Cloud, token: string) => {
          const { params, body, query, after } = await calls[key]!(cloud, version);
          const path = pathOf(listed, params);
          const answer = await ask(cloud.api, listed.method, { token, version, path, query, body });
          await after?.();
          await cloud.api.idle();
          return answer.status;
        };
        expect(await statusIn(renamed, otherwise)).toBe(await statusIn(ordinary, ordinarily));
      },
    );
  });

  it("lists, filters and sorts everybody's servers for the new role only", async () => {
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
