import { describe, expect, it } from 'vitest';
import { isAllowedByAccessRules } from './access-rules.js';

const allows = (path: string, requested: string, rule: object = {}) =>
  isAllowedByAccessRules({ accessRules: [{ method: 'GET', service: 'compute', path, ...rule }] }, ['compute'], 'GET', [
    requested,
  ]);

describe('the path of an access rule', () => {
  it.each([
    ['/v2.1/servers', '/v2.1/servers', true],
    ['/v2.1/servers', '/v2.1/servers/1', false],
    ['/v2.1/servers', '/v2.1/server', false],
    ['/v2.1/servers', '/v2x1/servers', false],
    ['/v2.1/servers/*', '/v2.1/servers/1', true],
    ['/v2.1/servers/*', '/v2.1/servers/', false],
    ['/v2.1/servers/*', '/v2.1/servers/1/ips', false],
    ['/v2.1/servers/{server_id}/ips', '/v2.1/servers/1/ips', true],
    ['/v2.1/servers/{server_id}/ips', '/v2.1/servers/1/2/ips', false],
    ['/v2.1/**', '/v2.1/', true],
    ['/v2.1/**', '/v2.1/servers/1/ips', true],
    ['/v2.1/**/ips', '/v2.1/servers/1/ips', true],
    ['/v2.1/**/ips', '/v2.1/servers/1', false],
    ['/v2.1/s*s', '/v2.1/servers', true],
    ['', '/', false],
  ])('%s, requested: %s', (pattern, path, allowed) => {
    expect(allows(pattern, path)).toBe(allowed);
  });

  it('is compared in bounded time, even if the pattern is malicious', () => {
    const started = process.cpuUsage();
    expect(allows(`/${'**a'.repeat(74)}`, `/${'a'.repeat(8_000)}`)).toBe(true);
    expect(allows(`/${'**a'.repeat(74)}b`, `/${'a'.repeat(8_000)}`)).toBe(false);
    // Matching an equivalent regular expression would take hours.
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
  });
});

it('an access rule applies only to its method and its service', () => {
  expect(allows('/a', '/a', { method: 'POST' })).toBe(false);
  expect(allows('/a', '/a', { service: 'network' })).toBe(false);
  expect(isAllowedByAccessRules({ accessRules: [] }, ['compute'], 'GET', ['/a'])).toBe(false);
});

it('callers without access rules, and services that forward requests, are not restricted', () => {
  expect(isAllowedByAccessRules({}, ['compute'], 'GET', ['/a'])).toBe(true);
  expect(isAllowedByAccessRules({ accessRules: [], serviceRoles: ['service'] }, ['compute'], 'GET', ['/a'])).toBe(true);
  expect(isAllowedByAccessRules({ accessRules: [], serviceRoles: ['member'] }, ['compute'], 'GET', ['/a'])).toBe(false);
});
