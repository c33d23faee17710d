import { since } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { type Operation, operationKey } from '@apistrata/microversion-router';
import { describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { operations } from '../../src/index.js';
import { operationsWithoutFact, partsWithoutFact } from './served-parts.js';

/**
 * Server actions below the collection's other path, which the newest release of the original service no longer serves.
 */
const DERIVED = [
  ...['pause', 'unpause', 'suspend', 'resume', 'lock', 'unlock', 'os-resetState', 'injectNetworkInfo'],
  ...['changePassword', 'restore', 'forceDelete', 'rescue', 'unrescue', 'migrate', 'os-migrateLive', 'evacuate'],
  ...['createBackup', 'shelve', 'shelveOffload', 'unshelve', 'addSecurityGroup', 'removeSecurityGroup'],
  ...['os-getVNCConsole', 'os-getSPICEConsole', 'os-getSerialConsole', 'os-getRDPConsole', 'os-getConsoleOutput'],
  ...['addFixedIp', 'removeFixedIp', 'addFloatingIp', 'removeFloatingIp'],
].map((action) => `POST /os-volumes_boot/{id}/action ${action}`);

/**
 * Parts that only the documents of the original services contain, or that clients still send; see `docs/deviations.md`.
 */
const OWN_PARTS = [
  'POST /servers/{id}/action rescue: body.rescue.host from 2.91',
  'PUT /os-quota-class-sets/{id}: body.quota_class_set.networks from 2.1',
  'PUT /os-quota-sets/{id}: body.quota_set.networks from 2.1',
];

const derivedFrom = (operation: Operation) => operation.path.startsWith('/os-volumes_boot');

// Definitions are the same on every database.
describe.skipIf(inject('database') === 'postgres')('the served operations', () => {
  it('have a fact, or are derived from an operation that has one', () => {
    expect([...operationsWithoutFact(operations)].sort()).toEqual([...DERIVED].sort());
  });

  it('have a fact for each field and parameter at each version', () => {
    // Derived operations share the views and schemas of their originals.
    expect(partsWithoutFact(operations.filter((operation) => !derivedFrom(operation)))).toEqual(OWN_PARTS);
  });

  describe('the check for missing facts finds', () => {
    const show = operations.find((operation) => operationKey(operation) === 'GET /os-server-groups')!;
    const create = operations.find((operation) => operationKey(operation) === 'POST /flavors')!;

    it('an operation', () => {
      const operations = [{ ...show, path: '/os-server-groups/{id}/mood' } as Operation, { ...show, action: 'cheer' }];
      expect(operationsWithoutFact(operations)).toEqual([
        'GET /os-server-groups/{id}/mood',
        'GET /os-server-groups cheer',
      ]);
    });

    it('a response field, on each level', () => {
      const mood = since('2.50', z.array(z.strictObject({ id: z.string(), colour: z.string() })));
      expect(partsWithoutFact([{ ...show, reply: { server_groups: mood, mood } }])).toEqual([
        'GET /os-server-groups: reply.server_groups[].colour from 2.50',
        'GET /os-server-groups: reply.mood from 2.50',
        'GET /os-server-groups: reply.mood[].id from 2.50',
        'GET /os-server-groups: reply.mood[].colour from 2.50',
      ]);
    });

    it('a field at too early a version', () => {
      const early = z.array(z.strictObject({ project_id: z.string() }));
      expect(partsWithoutFact([{ ...show, reply: { server_groups: early } }])).toEqual([
        'GET /os-server-groups: reply.server_groups[].project_id from 2.1',
      ]);
    });

    it('a request field', () => {
      const body = object({ flavor: object({ name: z.string(), mood: since('2.60', z.string()) }) });
      expect(partsWithoutFact([{ ...create, reply: undefined, body }])).toEqual([
        'POST /flavors: body.flavor.mood from 2.60',
      ]);
    });
  });
});
