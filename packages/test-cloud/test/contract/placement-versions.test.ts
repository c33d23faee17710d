// Compares placement's operations with the facts in `reference/`, in the versions before and after each change.
import { describe, expect, it } from 'vitest';
import { type BodyFact, facts, firstOf, operations, pathOf, phaseAt, type Shape } from './placement-facts.js';
import { fill, NEWEST, placementUnderTest, type Values } from './placement-fixture.js';
import { SAMPLES } from './placement-samples.js';
import { invalidValues } from './resource-facts.js';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the version that introduces a shape. */
const sinceOf = (shape: Shape): number => (typeof shape === 'number' ? shape : 0);

/** Returns the differences between a value and its expected shape in a version. */
function differences(value: unknown, shape: Shape, minor: number, at = 'body'): readonly string[] {
  if (typeof shape === 'number') return value === undefined ? [`${at} is missing`] : [];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value) || value.length === 0) return [`${at} is not a list with items`];
    return value.flatMap((item, index) => differences(item, shape[0], minor, `${at}[${index}]`));
  }
  if (!isObject(value)) return [`${at} is not an object`];
  const { '*': some, '*?': any = some, ...fields } = shape as Readonly<Record<string, Shape>>;
  if (any !== undefined) {
    if (some !== undefined && Object.keys(value).length === 0) return [`${at} is empty`];
    return Object.entries(value).flatMap(([key, item]) => differences(item, any, minor, `${at}.${key}`));
  }
  const expected = Object.keys(fields).filter((key) => sinceOf(fields[key] ?? 0) <= minor);
  const actual = Object.keys(value);
  return [
    ...expected.filter((key) => !actual.includes(key)).map((key) => `${at}.${key} is missing`),
    ...actual.filter((key) => !expected.includes(key)).map((key) => `${at}.${key} is not in the facts`),
    ...expected.flatMap((key) => differences(value[key], fields[key] ?? 0, minor, `${at}.${key}`)),
  ];
}

function versionsIn(shape: Shape): readonly number[] {
  if (typeof shape === 'number') return [shape];
  return Object.values(shape).flatMap(versionsIn);
}

/** Returns the versions before and after each change, starting with the first version of the operation. */
function edges(operation: string, changes: readonly number[]): readonly number[] {
  const first = firstOf(operation);
  const found = [first, NEWEST, ...changes.flatMap((minor) => [minor - 1, minor])];
  return [...new Set(found)].filter((minor) => minor >= first).sort((a, b) => a - b);
}

const bodyFactAt = (operation: string, minor: number): BodyFact | undefined =>
  (facts.bodies[operation] ?? []).find(({ since = 0, until = NEWEST }) => since <= minor && minor <= until);

type Edit = (parent: Record<string, unknown>, key: string) => void;

/** Edits a copy of a body at a path. */
function edited(body: unknown, path: string, edit: Edit): unknown {
  const copy = structuredClone(body);
  const keys = path.split('.');
  let parent = copy as Record<string, unknown>;
  for (const [index, written] of keys.entries()) {
    const key = written === '*' ? String(Object.keys(parent)[0]) : written;
    if (index === keys.length - 1) edit(parent, key);
    else parent = parent[key] as Record<string, unknown>;
  }
  return copy;
}

const remove: Edit = (parent, key) => {
  delete parent[key];
};

const replaceBy =
  (value: unknown): Edit =>
  (parent, key) => {
    parent[key] = value;
  };

/** Returns the valid body of an operation in a version. */
function bodyAt(operation: string, minor: number, values: Values): unknown {
  const sample = SAMPLES[operation]?.body;
  const body = fill(typeof sample === 'function' ? sample(minor) : sample, values);
  const late = Object.entries(bodyFactAt(operation, minor)?.fields ?? {}).filter(([, { since = 0 }]) => since > minor);
  // Nested fields are removed with their parents.
  const roots = late.map(([path]) => path).filter((path) => !late.some(([other]) => path.startsWith(`${other}.`)));
  return roots.reduce((shown, path) => edited(shown, path, remove), body);
}

const methodOf = (operation: string) => operation.split(' ')[0] ?? '';

describe('responses', () => {
  it('are in the facts for each operation', () => {
    expect(Object.keys(facts.responses).sort()).toEqual([...operations.keys()].sort());
  });

  it.each(Object.entries(facts.responses))(
    'of %s have the fields, status and headers of each version',
    async (operation, phases) => {
      const { request, stage } = await placementUnderTest();
      const method = methodOf(operation);
      const requested = (facts.bodies[operation] ?? []).flatMap(({ since = 0, fields }) => [
        since,
        ...Object.values(fields).map((field) => field.since ?? 0),
      ]);
      const changes = phases.flatMap(({ since = 0, cached = 0, body }) => [since, cached, ...versionsIn(body ?? 0)]);
      for (const minor of edges(operation, [...changes, ...requested])) {
        const values = await stage();
        const phase = phaseAt(phases, minor);
        const body = bodyAt(operation, minor, values);
        const send = async (path: string, status: number | undefined) => {
          const { headers, ...response } = await request(method, path, body, minor);
          const label = `${operation} ${path} at 1.${minor}: ${JSON.stringify(response.body)}`;
          expect(response.status, label).toBe(status);
          if (phase?.body === null) expect(response.body, label).toBe('');
          else expect(differences(response.body, phase?.body ?? 0, minor), label).toEqual([]);
          const isCached = minor >= (phase?.cached ?? Number.POSITIVE_INFINITY);
          const sent = [headers.get('cache-control'), headers.has('location')];
          expect(sent, label).toEqual([isCached ? 'no-cache' : null, phase?.location === true]);
          if (!phase?.undated) expect(headers.has('last-modified'), label).toBe(isCached);
          expect([headers.get('openstack-api-version'), headers.get('vary')], label).toEqual([
            `placement 1.${minor}`,
            'openstack-api-version',
          ]);
        };
        if (phase?.created) await send(pathOf(operation, values, SAMPLES[operation]?.createdPath), phase.created);
        await send(pathOf(operation, values), phase?.status);
      }
    },
  );

  it.each([...operations.values()].filter(({ since }) => since))(
    'of $method $path are errors before 1.$since',
    async ({ method, path, since = 0 }) => {
      const { request, stage } = await placementUnderTest();
      const operation = `${method} ${path}`;
      const values = await stage();
      const { status, body } = await request(
        method,
        pathOf(operation, values),
        bodyAt(operation, since, values),
        since - 1,
      );
      const existsOtherwise = [...operations.values()].some((one) => one.path === path && (one.since ?? 0) < since);
      // Most operations return 404 before the version that adds them. Those that 1.5 adds to an existing path return
      // 405.
      expect([status, body.errors[0].status]).toEqual(existsOtherwise && since === 5 ? [405, 405] : [404, 404]);
    },
  );
});

describe('bodies', () => {
  const bodied = Object.entries(facts.bodies).flatMap(([operation, ranges]) =>
    ranges.map(
      (range) => [`${operation} since 1.${Math.max(range.since ?? 0, firstOf(operation))}`, operation, range] as const,
    ),
  );

  it.each(bodied)(
    'of %s are validated in each version',
    async (_, operation, { since = 0, until = NEWEST, type, fields }) => {
      const { request, stage } = await placementUnderTest();
      const values = await stage();
      const first = Math.max(since, firstOf(operation));
      const changes = Object.values(fields).map((field) => field.since ?? first);
      const minors = [...new Set([first, ...changes.flatMap((minor) => [minor - 1, minor]), until])];
      const accepted: unknown[] = [];
      for (const minor of minors.filter((one) => one >= first && one <= until)) {
        const body = bodyAt(operation, minor, values);
        const reject = async (label: unknown, wrong: unknown, message = '') => {
          const response = await request(methodOf(operation), pathOf(operation, values), wrong, minor);
          const detail: string = response.body?.errors?.[0]?.detail ?? '';
          if (response.status !== 400 || !detail.includes(message))
            accepted.push([minor, label, response.status, response.body]);
        };
        const roots = invalidValues({ type: type ?? 'object' });
        for (const [problem, value] of roots) await reject(['the body', problem], value);
        if (!type) await reject('an unknown field', { ...(body as object), unheard_of: 1 }, 'unheard_of');
        for (const [path, field] of Object.entries(fields)) {
          const key = path.split('.').at(-1);
          const newest = bodyAt(operation, until, values);
          if ((field.since ?? 0) > minor) {
            const parent = path.split('.').slice(0, -1).join('.');
            const isNested = Object.entries(fields).some(
              ([other, { since: later = 0 }]) => other === parent && later > minor,
            );
            if (isNested || key === '*') continue;
            let value: unknown;
            edited(newest, path, (from, name) => {
              value = from[name];
            });
            await reject([path, 'is from a later version'], edited(body, path, replaceBy(value)), 'was unexpected');
            continue;
          }
          if (field.required)
            await reject([path, 'is missing'], edited(body, path, remove), `'${key}' is a required property`);
          for (const [problem, value] of invalidValues(field))
            await reject([path, problem], edited(body, path, replaceBy(value)));
        }
      }
      expect(accepted).toEqual([]);
    },
  );
});
