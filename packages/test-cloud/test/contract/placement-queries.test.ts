// Compares the query parameters of placement's operations with the facts in `reference/`.
import { describe, expect, it } from 'vitest';
import { facts, firstOf, operations, pathOf, phaseAt } from './placement-facts.js';
import { NEWEST, placementUnderTest, type Values } from './placement-fixture.js';

describe('queries', () => {
  const parameters = Object.entries(facts.parameters).flatMap(([operation, names]) =>
    Object.entries(names).map(([name, since]) => [name, operation, since] as const),
  );
  const valid: Values = { resources: 'VCPU:1', required: 'COMPUTE_NODE', root_required: 'COMPUTE_NODE' };
  const queryOf = (operation: string, name: string, values: Values) => {
    const texts: Values = {
      ...{ ...valid, uuid: values.provider ?? '', in_tree: values.provider ?? '', member_of: values.provider ?? '' },
      ...{ limit: 1, group_policy: 'none', associated: 'true', consumer_type: 'INSTANCE', same_subtree: '1' },
      ...(operation === 'GET /traits' ? { name: 'startswith:HW_' } : { name: 'x' }),
    };
    const base = { 'GET /usages': 'project_id=p&', 'GET /allocation_candidates': 'resources=VCPU:1&' }[operation] ?? '';
    const group = name === 'same_subtree' ? 'resources1=VCPU:1&' : '';
    return `${base.startsWith(`${name}=`) ? '' : base}${group}${name}=${texts[name] ?? 'x'}`;
  };

  it.each(parameters)('have %s in %s since 1.%i', async (name, operation, since) => {
    const { request, stage } = await placementUnderTest();
    const values = await stage();
    const send = (minor: number) =>
      request('GET', `${operation.split(' ')[1]}?${queryOf(operation, name, values)}`, undefined, minor);
    const { status, body } = await send(since);
    expect(status, JSON.stringify(body)).toBe(200);
    if (since <= firstOf(operation)) return;
    const earlier = await send(since - 1);
    expect(earlier.status).toBe(400);
    expect(earlier.body.errors[0].detail).toMatch(
      new RegExp(`Invalid query string parameters: .*'${name}' (was unexpected|does not match any of the regexes)`),
    );
  });

  const gets = [...operations.values()].filter(({ method }) => method === 'GET');
  it.each(gets)(
    'of $method $path with unknown parameters are rejected, or the parameters ignored',
    async ({ method, path }) => {
      const { request, stage } = await placementUnderTest();
      const operation = `${method} ${path}`;
      const known = facts.parameters[operation];
      const [url = '', query = ''] = pathOf(operation, await stage()).split('?');
      const { status } = await request('GET', `${url}?${query}&unheard_of=1`);
      expect(status).toBe(known ? 400 : (phaseAt(facts.responses[operation] ?? [], NEWEST)?.status ?? 200));
    },
  );

  it.each(facts.forms)('$operation accepts $query since 1.$since', async ({ operation, query, since }) => {
    const { request } = await placementUnderTest();
    const send = async (minor: number) =>
      (await request('GET', `${operation.split(' ')[1]}?${query}`, undefined, minor)).status;
    expect([await send(since - 1), await send(since)]).toEqual([400, 200]);
  });
});
