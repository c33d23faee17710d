// Compares placement's errors with the facts in `reference/`: status, code and message.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clientOf } from '../clouds.js';
import { operationsOf, readFacts } from './operation-facts.js';
import { fill, NEWEST, placementUnderTest } from './placement-fixture.js';

interface ErrorFact {
  /** The method, path and query. Placeholders such as `{provider}` stand for values that `stage()` returns. */
  readonly request: string;
  readonly body?: unknown;
  readonly version?: number;
  readonly status: number;
  readonly code?: string;
  readonly detail: string;
}

const { errors, policies } = readFacts('placement') as {
  readonly errors: readonly ErrorFact[];
  readonly policies: Readonly<Record<string, string>>;
};

describe('errors of placement', () => {
  it('have the status, code and message of the original', async () => {
    const { request, stage } = await placementUnderTest();
    const staged = await stage();
    const wrong: unknown[] = [];
    for (const { version = NEWEST, code = 'placement.undefined_code', ...fact } of errors) {
      const values = { ...staged, fresh: randomUUID() };
      const [method = '', ...path] = String(fill(fact.request, values)).split(' ');
      const { status, body } = await request(method, path.join(' '), fill(fact.body, values), version);
      const error = body?.errors?.[0] ?? {};
      const isSame =
        status === fact.status &&
        error.code === (version >= 23 ? code : undefined) &&
        String(error.detail).endsWith(`\n\n ${fill(fact.detail, values)}  `);
      if (!isSame) wrong.push([fact, status, body]);
    }
    expect(wrong).toEqual([]);
  });

  it.each(operationsOf('placement').filter(({ open }) => !open))(
    'name the policy of $method $path',
    async (operation) => {
      const { cloud } = await placementUnderTest();
      const { method, path } = operation;
      const asMember = clientOf(cloud, cloud.token('demo', 'demo'));
      const body = ['POST', 'PUT'].includes(method) ? {} : undefined;
      const response = await asMember(method, `/placement${path.replaceAll(/[{}]/g, '')}`, body, {
        'OpenStack-API-Version': 'placement 1.39',
      });
      expect([response.status, response.body.errors[0].detail]).toEqual([
        403,
        `Access was denied to this resource.\n\n Policy does not allow ${policies[`${method} ${path}`]} to be performed.  `,
      ]);
    },
  );
});
