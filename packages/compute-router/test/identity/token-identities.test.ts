import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../../src/identity/identity.js';
import { noauth } from '../../src/identity/noauth.js';
import { staticTokens } from '../../src/identity/static-tokens.js';

const identify = (identity: Identity, token?: string, service?: string) =>
  identity({ headers: { 'x-auth-token': token, 'x-service-token': service } } as unknown as IncomingMessage);

describe('noauth', () => {
  it.each([
    ['admin', { userId: 'admin', projectId: 'admin', roles: ['admin'] }],
    ['alice', { userId: 'alice', projectId: 'alice', roles: ['member', 'reader'] }],
    ['alice:demo', { userId: 'alice', projectId: 'demo', roles: ['member', 'reader'] }],
    ['admin:demo', { userId: 'admin', projectId: 'demo', roles: ['admin'] }],
    ['alice:demo:reader', { userId: 'alice', projectId: 'demo', roles: ['reader'] }],
    ['admin:demo:reader', { userId: 'admin', projectId: 'demo', roles: ['reader'] }],
    ['alice::admin,auditor', { userId: 'alice', projectId: 'alice', roles: ['admin', 'auditor'] }],
    ['alice:demo:', { userId: 'alice', projectId: 'demo', roles: ['member', 'reader'] }],
    ['x:p:key-manager:service-admin', { userId: 'x', projectId: 'p', roles: ['key-manager:service-admin'] }],
    ['x:p:reader,key-manager:service-admin', { roles: ['reader', 'key-manager:service-admin'] }],
  ])('accepts the token %s', (token, caller) => {
    expect(identify(noauth(), token)).toMatchObject({ ...caller, token });
  });

  it.each([undefined, '', ':demo', '::admin', 'ali ce', 'älice', 'a\tb'])('rejects %j', (token) => {
    expect(identify(noauth(), token)).toBeUndefined();
  });

  it('assigns callers without a project to the configured one', () => {
    expect(identify(noauth({ projectId: 'p0' }), 'alice')).toMatchObject({ projectId: 'p0' });
    expect(identify(noauth({ projectId: 'p0' }), 'alice:demo')).toMatchObject({ projectId: 'demo' });
  });

  it('has the configured administrators', () => {
    const identity = noauth({ adminUsers: ['root'] });
    expect(identify(identity, 'root')).toMatchObject({ roles: ['admin'] });
    expect(identify(identity, 'admin')).toMatchObject({ roles: ['member', 'reader'] });
  });

  it('adds the roles of the service that forwards a call', () => {
    expect(identify(noauth(), 'alice', 'nova:service:service')).toMatchObject({
      userId: 'alice',
      roles: ['member', 'reader'],
      serviceRoles: ['service'],
    });
    expect(identify(noauth(), 'alice', ':')).toBeUndefined();
    expect(identify(noauth(), 'alice')).not.toHaveProperty('serviceRoles');
  });

  it('returns a user and a project for any string in the header', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ':', ',', ' ', 'admin', '__proto__') }), (token) => {
        const caller = identify(noauth(), token) as Caller | undefined;
        const valid = /^[^:\s]\S*$/.test(token);
        expect(caller !== undefined).toBe(valid);
        expect(caller ? [caller.userId, caller.projectId, caller.roles[0]] : ['no', 'bo', 'dy']).not.toContain('');
      }),
    );
  });

  it('rejects unknown options', () => {
    expect(() => noauth({ project: 'x' } as never)).toThrow(/unknown option "project"/);
  });
});

describe('static tokens', () => {
  const alice = { userId: 'alice', projectId: 'demo', roles: ['member'] };
  const service = { userId: 'glance', projectId: 'service', roles: ['service'] };
  const identity = staticTokens({ 't-alice': alice, 't-service': service });

  it('identify the callers of the table', () => {
    expect(identify(identity, 't-alice')).toEqual({ ...alice, token: 't-alice' });
  });

  it.each([undefined, '', 't-alic', 't-alice ', 'constructor', '__proto__'])('reject %j', (token) => {
    expect(identify(identity, token)).toBeUndefined();
  });

  it('identify services that forward requests', () => {
    expect(identify(identity, 't-alice', 't-service')).toMatchObject({ userId: 'alice', serviceRoles: ['service'] });
    expect(identify(identity, 't-alice', 'wrong')).toBeUndefined();
    expect(identify(identity, 'wrong', 't-service')).toBeUndefined();
  });

  it('do not change the table', () => {
    expect(alice).toEqual({ userId: 'alice', projectId: 'demo', roles: ['member'] });
    expect(Object.isFrozen(alice)).toBe(false);
  });

  it.each([
    [{ 'se cret': alice }, /entry 1: a token must be visible ASCII/],
    [{ ok: alice, secret: { userId: 'x', roles: [] } }, /entry 2 needs a userId and a projectId/],
    [{ secret: { userId: 'x', projectId: 'y', roles: 'admin' } }, /entry 1 needs roles/],
    [{ secret: undefined }, /entry 1 needs a userId/],
  ])('reject an invalid table without revealing a token: %j', (table, message) => {
    expect(() => staticTokens(table as never)).toThrow(message);
    expect(() => staticTokens(table as never)).not.toThrow(/se ?cret/);
  });
});
