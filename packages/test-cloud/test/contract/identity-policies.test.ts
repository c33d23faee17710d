// Sends a request for each action of the identity service's policies as each caller, and compares the decisions with the
// facts in `reference/`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/identity/policies.js';
import { readFacts } from './operation-facts.js';
import { at, type PolicyCloud, policyCloud } from './policy-cloud.js';
import { BODIES, CREATED_BY_PUT, IDS_OF_ACTIONS, MAKE_IDS, MISSING_RECORDS, PREPARATIONS } from './policy-samples.js';

interface ActionFact {
  readonly request: string;
  readonly callers: string | readonly string[];
}

const { actions, callers } = readFacts('identity-policies') as {
  readonly actions: Readonly<Record<string, ActionFact>>;
  readonly callers: Readonly<Record<string, readonly string[]>>;
};
const TOKEN_ACTIONS = ['validate_token', 'check_token', 'revoke_token'];

let cloud: PolicyCloud;
beforeAll(async () => {
  cloud = await policyCloud();
});
afterAll(() => cloud.cloud.stop());

/** Creates the records that the request of an action requires, and returns the request. */
async function requestOf(action: string) {
  const [method = '', template = ''] = (actions[action]?.request ?? '').split(' ');
  const ids: Record<string, string> = {};
  for (const [, name = ''] of template.matchAll(/\{(\w+)\}/g))
    ids[name] = (await (IDS_OF_ACTIONS[action]?.[name] ?? MAKE_IDS[name])?.(cloud)) ?? 'missing';
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
  if (CREATED_BY_PUT.includes(action)) await cloud.send('PUT', path);
  await PREPARATIONS[action]?.(cloud, ids);
  const body = await BODIES[action]?.(cloud);
  const headers = TOKEN_ACTIONS.includes(action) ? { 'X-Subject-Token': await cloud.ownerToken() } : undefined;
  return { method, path, body, headers };
}

describe('a policy of the identity service', () => {
  it('exists for each action in the facts', () => {
    expect(Object.keys(POLICIES).sort()).toEqual(Object.keys(actions).sort());
  });

  it.each(Object.entries(actions))('allows only the callers in the facts: %s', async (action, fact) => {
    const allowed = typeof fact.callers === 'string' ? (callers[fact.callers] ?? []) : fact.callers;
    const decisions: Record<string, string> = {};
    let request = await requestOf(action);
    for (const [name, send] of Object.entries(cloud.callers)) {
      const { method, path, body, headers } = request;
      const response = await send(method, at(path), body, headers);
      const message = response.body?.error?.message;
      const isDenied = response.status === 403;
      decisions[name] = isDenied
        ? `denied: ${message}`
        : response.status < 400
          ? 'allowed'
          : `${response.status} ${message}`;
      if (!isDenied && !['GET', 'HEAD'].includes(method)) request = await requestOf(action);
    }
    const denial = actions[action]?.request.startsWith('HEAD')
      ? 'denied: undefined'
      : `denied: You are not authorized to perform the requested action: identity:${action}.`;
    const success = MISSING_RECORDS.includes(action) ? expect.stringMatching(/^404 /) : 'allowed';
    const expected = Object.keys(cloud.callers).map((name) => [name, allowed.includes(name) ? success : denial]);
    expect(decisions).toEqual(Object.fromEntries(expected));
  });
});
