import { spawnSync } from 'node:child_process';
import { type Operation, tagOf } from '@apistrata/microversion-router';
import { describe, expect, it } from 'vitest';
import { operations } from '../src/index.js';
import { computeApiReference } from '../src/reference/index.js';

const { groups, tagAliases, facts, samples } = computeApiReference;
const find = (method: string, path: string, action?: string): Operation => {
  const found = operations.find((each) => each.method === method && each.path === path && each.action === action);
  if (!found) throw new Error(`There is no ${method} ${path} ${action ?? ''}`);
  return found;
};

describe('the reference of the compute API', () => {
  it('lists every tag exactly once', () => {
    const listed = [...groups.flatMap(({ tags }) => Object.keys(tags)), ...Object.keys(tagAliases)];
    expect([...listed].sort()).toEqual([...new Set(operations.map(tagOf))].sort());
  });

  it('shows the states in which an action is allowed', () => {
    expect(facts(find('POST', '/servers/{id}/action', 'resize')).states).toMatchObject({
      vm_state: '`active`, `stopped`',
      task_state: 'none',
      locked: '`false`, except for administrators',
    });
    const reboot = facts(find('POST', '/servers/{id}/action', 'reboot')).states;
    expect(Object.keys(reboot ?? {})).toContain('vm_state (rebootHard)');
    expect(facts(find('GET', '/servers')).states).toBeUndefined();
  });

  it('shows states for every action of servers that the engine restricts', () => {
    const without = operations.filter((each) => each.path === '/servers/{id}/action' && !facts(each).states);
    // These change a related resource, or return a part of the server.
    const other = /Console|SecurityGroup|FloatingIp|^addFixedIp|^removeFixedIp|^resetNetwork$/;
    expect(without.map(({ action = '' }) => action).filter((action) => !other.test(action))).toEqual([]);
  });

  it('marks operations for administrators only', () => {
    expect(facts(find('POST', '/flavors')).adminOnly).toBe(true);
    expect(facts(find('GET', '/flavors')).adminOnly).toBe(false);
  });

  it('has samples for the SDKs of Python and Go that send the version', () => {
    const request = {
      method: 'POST',
      path: '/servers',
      body: { server: { locked: true, key: null } },
      version: '2.90',
      status: 202,
    };
    const [python = '', go = ''] = samples.map(({ code }) => code(request));
    expect(python).toContain("microversion='2.90'");
    expect(python).toContain('"locked": True,\n            "key": None');
    expect(go).toContain('client.Microversion = "2.90"');
    const parsed = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: python });
    if (parsed.error === undefined) expect(String(parsed.stderr)).toBe('');
  });
});
