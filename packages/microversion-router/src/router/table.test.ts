import { describe, expect, it } from 'vitest';
import { routeTable } from './table.js';

const get = (path: string) => ({ method: 'GET', path, summary: '', status: 200, run: () => undefined }) as const;

describe('the table of routes', () => {
  it('is shared by routers of the same operations', () => {
    const operations = [get('/a'), get('/b')];
    expect(routeTable(operations)).toBe(routeTable(operations));
    expect(routeTable([...operations])).not.toBe(routeTable(operations));
  });

  it('is built again after the array has changed', () => {
    const operations = [get('/a')];
    expect(routeTable(operations).find('GET', '/b')).toBeUndefined();
    operations.push(get('/b'));
    expect(routeTable(operations).find('GET', '/b')).toBeDefined();
    operations[0] = get('/c');
    expect(routeTable(operations).find('GET', '/a')).toBeUndefined();
  });
});
