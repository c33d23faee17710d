import { since, versioning } from '@apistrata/microversion';
import { type Infer, object, one, query } from '@apistrata/microversion/schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { z } from 'zod';
import { sendRequest } from '../../../testing/send-request.js';
import { createRouter, openApi, operationsOf } from '../src/index.js';

const name = v.pipe(v.string(), v.minLength(2));
const age = type('string.numeric.parse');
const body = object({ name, tags: since('2', type('string[]')), note: z.string().optional() });

const operations = [
  operationsOf<object>()({
    method: 'POST',
    path: '/people',
    summary: 'Create a person',
    status: 201,
    query: query({ age: one(age) }),
    body,
    reply: type({ name: 'string', age: 'number' }),
    run: ({ body: person, query: { age: years = 0 } }) => ({ name: person.name, age: years }),
  }),
];
const { negotiate } = versioning({ versions: ['1', '2'] });
const router = createRouter({ operations, call: () => ({}), negotiate, validateReplies: true });

function post(path: string, person: object, version = '1') {
  const headers = { 'Content-Type': 'application/json', 'API-Version': version };
  return sendRequest(router, { method: 'POST', path, headers, body: JSON.stringify(person) });
}

describe('schemas of valibot and arktype', () => {
  it('infer the types of their values', () => {
    expectTypeOf<Infer<typeof name>>().toEqualTypeOf<string>();
    expectTypeOf<Infer<typeof age>>().toEqualTypeOf<number>();
  });

  it('validate and convert values, next to zod schemas and within windows', async () => {
    const response = await post('/people?age=7', { name: 'ada', note: 'x' });
    expect([response.status, JSON.parse(response.body)]).toEqual([201, { name: 'ada', age: 7 }]);
    expect((await post('/people', { name: 'ada', tags: ['a'] }, '2')).status).toBe(201);
    expect((await post('/people', { name: 'ada', tags: ['a'] }, '1')).status).toBe(400);
  });

  it.each([
    [{ name: 'a' }, '1', '/name'],
    [{ name: 'ada', tags: ['a', 5] }, '2', '/tags/1'],
    [{ name: 'ada', note: 5 }, '1', '/note'],
  ])('report errors with their path: %j at %s', async (person, version, pointer) => {
    const response = await post('/people', person, version);
    expect([response.status, JSON.parse(response.body).errors[0].pointer]).toEqual([400, pointer]);
  });

  it('report errors of the query', async () => {
    expect(JSON.parse((await post('/people?age=x', { name: 'ada' })).body).errors[0].parameter).toBe('age');
  });

  it('are in the documents, if their library exports JSON Schema', () => {
    const document = JSON.stringify(openApi(operations, { title: 'People', version: '2' }));
    expect(document).toContain('"tags":{"type":"array","items":{"type":"string"}');
  });

  it('must be synchronous: the error of an asynchronous one names its library', async () => {
    const slow = v.pipeAsync(
      v.string(),
      v.checkAsync(async () => true),
    );
    const show = operationsOf<object>()({
      method: 'POST',
      path: '/',
      summary: 'x',
      status: 200,
      body: slow,
      run: () => undefined,
    });
    const onError = vi.fn();
    const { status } = await sendRequest(createRouter({ operations: [show], call: () => ({}), negotiate, onError }), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '"x"',
    });
    expect(status).toBe(500);
    expect(onError.mock.calls.map(([error]) => String(error))).toEqual([
      'TypeError: a schema of valibot is asynchronous: the router requires a synchronous one',
    ]);
  });
});
