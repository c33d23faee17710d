// A placement service with providers, classes, traits and consumers, for tests that use `reference/placement.json`.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type ApiResponse, clientOf, cloudUnderTest } from '../clouds.js';

export const NEWEST = 39;

/** Values of placeholders such as `{provider}` in the facts and samples. */
export type Values = Readonly<Record<string, string | number>>;

/**
 * Replaces placeholders in a template. A string that consists only of a placeholder becomes the placeholder's value.
 */
export function fill(template: unknown, values: Values): unknown {
  if (typeof template === 'string') {
    const whole = /^\{(\w+)\}$/.exec(template)?.[1];
    if (whole !== undefined && values[whole] !== undefined) return values[whole];
    return template.replaceAll(/\{(\w+)\}/g, (text, key: string) => String(values[key] ?? text));
  }
  if (Array.isArray(template)) return template.map((item) => fill(item, values));
  if (template === null || typeof template !== 'object') return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) => [String(fill(key, values)), fill(value, values)]),
  );
}

export const AGGREGATES = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;

let count = 0;

/** Starts an empty cloud, and returns functions that send requests with the roles `admin` and `service`. */
export async function placementUnderTest() {
  const cloud = await cloudUnderTest({
    preset: { flavors: [], hosts: [], images: [], networks: [], volumeTypes: [] },
  });
  const raw = clientOf(cloud, cloud.token('nova', 'service', ['admin', 'service']));
  const request = (method: string, path: string, body?: unknown, minor = NEWEST): Promise<ApiResponse> =>
    raw(method, `/placement${path}`, body, { 'OpenStack-API-Version': `placement 1.${minor}` });

  async function required(method: string, path: string, body?: unknown) {
    const response = await request(method, path, body);
    expect(response.status, `${method} ${path}: ${JSON.stringify(response.body)}`).toBeLessThan(300);
    return response.body;
  }

  const allocate = (id: string, provider: string, amount: number) =>
    required('PUT', `/allocations/${id}`, {
      allocations: { [provider]: { resources: { VCPU: amount } } },
      project_id: 'p',
      user_id: 'u',
      consumer_generation: null,
      consumer_type: 'INSTANCE',
    });

  /** Creates providers with all their parts, and returns their ids and names. */
  async function stage(): Promise<Values> {
    const number = ++count;
    const [provider, child, other, consumer] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const names = { name: `provider${number}`, usedClass: `CUSTOM_USED${number}`, usedTrait: `CUSTOM_USED${number}` };
    const unused = { unusedClass: `CUSTOM_UNUSED${number}`, unusedTrait: `CUSTOM_UNUSED${number}` };
    for (const name of [names.usedClass, unused.unusedClass]) {
      await required('PUT', `/resource_classes/${name}`);
      await required('PUT', `/traits/${name}`);
    }
    await required('POST', '/resource_providers', { name: names.name, uuid: provider });
    await required('POST', '/resource_providers', { name: `other${number}`, uuid: other });
    await required('POST', '/resource_providers', {
      name: `child${number}`,
      uuid: child,
      parent_provider_uuid: provider,
    });
    const parts = {
      inventories: {
        VCPU: { total: 8, max_unit: 6 },
        DISK_GB: { total: 100, min_unit: 10, step_size: 10 },
        [names.usedClass]: { total: 1 },
      },
      aggregates: [AGGREGATES[0]],
      traits: ['COMPUTE_NODE', names.usedTrait],
    };
    for (const [part, value] of Object.entries(parts)) {
      const { generation } = await required('GET', `/resource_providers/${provider}`);
      const body = { [part]: value, resource_provider_generation: generation };
      await required('PUT', `/resource_providers/${provider}/${part}`, body);
    }
    await required('PUT', `/resource_providers/${other}/inventories`, {
      inventories: { VCPU: { total: 4 } },
      resource_provider_generation: 0,
    });
    await allocate(consumer, provider, 3);
    await allocate(randomUUID(), other, 1);
    const { generation } = await required('GET', `/resource_providers/${provider}`);
    const fresh = randomUUID();
    return {
      ...{ provider, child, other, consumer, generation, fresh, missing: randomUUID() },
      ...{ ...names, ...unused, freshClass: `CUSTOM_FRESH${number}`, freshTrait: `CUSTOM_FRESH${number}` },
    };
  }

  return { cloud, request, stage };
}
