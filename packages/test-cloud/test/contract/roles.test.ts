// Compares the roles that the services require with the facts in `reference/`.
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { imageRequests } from './image-role-requests.js';
import { networkRequests } from './network-role-requests.js';
import { NOT_SERVED, type Operation, operationKey, operationsOf, readFacts } from './operation-facts.js';
import type { SendRequest } from './resource-contract.js';
import { ProjectRequests, type ServiceRequests } from './role-requests.js';
import { volumeRequests } from './volume-role-requests.js';

const REQUESTS: Readonly<Record<string, ServiceRequests>> = {
  image: imageRequests,
  network: networkRequests,
  volume: volumeRequests,
};

const ROLES = ['reader', 'member', 'manager', 'admin'] as const;
type Role = (typeof ROLES)[number];

const lesserRoles = (role: Role) => ROLES.slice(0, ROLES.indexOf(role));

async function start(service: string) {
  const cloud = await cloudUnderTest();
  const requests = REQUESTS[service]!;
  const as = (token?: string): SendRequest => {
    const send = clientOf(cloud, token);
    return (method, path, body) => send(method, `/${service}${path}`, body, requests.headers?.(method, path));
  };
  return {
    project: new ProjectRequests(service, requests, as()),
    /** Sends requests as a user with only this role. */
    withRole: (role: Role) => as(cloud.token(role === 'admin' ? 'admin' : 'demo', 'demo', [role])),
  };
}

/** The served operations that require a role, and whose paths do not select one of several actions. */
const changesOf = (service: string) =>
  operationsOf(service)
    .filter(({ role, method, path }) => role && !NOT_SERVED[service]?.[operationKey(method, path)])
    .map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

describe.each(Object.keys(REQUESTS))('the %s service', (service) => {
  it('has a role for each operation that changes resources', () => {
    const changes = operationsOf(service).filter(({ method }) => !['GET', 'HEAD'].includes(method));
    const withoutRole = changes.filter(({ role }) => !role).map(({ path }) => path);
    expect(withoutRole.filter((path) => !/\/action$|consistencygroups|cgsnapshots|-log$/.test(path))).toEqual([]);
  });

  it.each(changesOf(service))('%s requires the role of the original', async (key, operation: Operation) => {
    const { project, withRole } = await start(service);
    const { method, role = 'admin', policy = '', status } = operation;
    const path = await project.path(operation.path);
    await project.prepare(key);
    const body = (await project.body(method, operation.path)) ?? operation.body;
    const reasons: string[] = [];
    for (const lesser of lesserRoles(role)) {
      const rejected = await withRole(lesser)(method, path, body);
      // Some resources are hidden from all callers except administrators.
      expect(role === 'admin' ? [403, 404] : [403], JSON.stringify(rejected)).toContain(rejected.status);
      reasons.push(JSON.stringify(rejected.body));
      expect(reasons.at(-1)).toContain(policy);
    }
    const accepted = await withRole(role)(method, path, body);
    expect(reasons).not.toContain(JSON.stringify(accepted.body));
    const expected = REQUESTS[service]?.rejected?.[key] ?? status;
    expect([expected].flat(), JSON.stringify(accepted.body)).toContain(accepted.status);
  });
});

describe('the actions of the volume service', () => {
  interface ActionFact {
    readonly role: Role;
    readonly policy?: string;
    readonly body: object | null;
  }
  const facts: Readonly<Record<string, Readonly<Record<string, ActionFact>>>> = readFacts('volume').actions;
  const actions = Object.entries(facts).flatMap(([path, byName]) =>
    Object.entries(byName).map(([name, fact]) => [path, name, fact] as const),
  );

  it.each(actions)('%s: %s requires the role of the original', async (template, name, { role, policy = '', body }) => {
    const { project, withRole } = await start('volume');
    const path = await project.path(template);
    const args = name === 'create-from-src' ? { source_group_id: await project.id('/v3/groups/{group_id}') } : body;
    for (const lesser of lesserRoles(role)) {
      const { status, body } = await withRole(lesser)('POST', path, { [name]: args });
      expect({ status, body: JSON.stringify(body) }).toEqual({ status: 403, body: expect.stringContaining(policy) });
    }
    const accepted = await withRole(role)('POST', path, { [name]: args });
    expect(accepted.status, JSON.stringify(accepted.body)).not.toBe(403);
  });
});
