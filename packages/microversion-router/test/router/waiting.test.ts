import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Version } from '@apistrata/microversion';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createRouter, operationsOf } from '../../src/index.js';

interface ReceivedResponse {
  /** The stages that were called, in order. */
  readonly stages: string[];
}

const show = {
  method: 'GET',
  path: '/things/{id}',
  summary: 'Show',
  status: 200,
  reply: { thing: z.string() },
} as const;

/**
 * Serves one request with stages that return the given values. Returns the response, and its content when the call
 * returns.
 */
function serve(responded: <T>(value: T) => T | PromiseLike<T>) {
  const stages: string[] = [];
  const record = <T>(stage: string, value: T) => {
    stages.push(stage);
    return responded(value) as T | Promise<T>;
  };
  const operation = operationsOf<ReceivedResponse>()({
    ...show,
    target: () => record('target', { id: 'a' }),
    load: ({ target }) => record('load', target.id),
    run: ({ loaded }) => record('run', { thing: `${loaded} thing` }),
  });
  const router = createRouter<ReceivedResponse>({
    operations: [operation],
    call: () => record('call', { stages }),
    negotiate: () => Version.of('2.1'),
    authorize: () => record('authorize', undefined),
    fault: (error) => {
      throw error;
    },
  });
  const req = new IncomingMessage(new Socket());
  req.method = 'GET';
  req.url = '/things/1';
  const res = new ServerResponse(req);
  const texts: string[] = [];
  const ended = new EventEmitter();
  res.end = ((text: string) => {
    texts.push(text);
    ended.emit('end');
    return res;
  }) as ServerResponse['end'];
  const end = new Promise<void>((resolve) => ended.once('end', () => resolve()));
  router(req, res);
  return { stages, texts, end };
}

const STAGES = ['call', 'target', 'authorize', 'load', 'run'];

it('responds synchronously if all stages are synchronous', () => {
  const { stages, texts } = serve((value) => value);
  expect(stages).toEqual(STAGES);
  expect(texts).toEqual(['{"thing":"a thing"}']);
});

it.each([
  ['a promise', <T>(value: T) => Promise.resolve(value)],
  // A thenable, as query builders return.
  [
    'a thenable that is not a promise',
    // biome-ignore lint/suspicious/noThenProperty: the test requires an object with this property
    <T>(value: T) => ({ then: (...args: Parameters<Promise<T>['then']>) => Promise.resolve(value).then(...args) }),
  ],
])('waits for each stage that returns %s', async (_what, wrap) => {
  const { stages, texts, end } = serve(wrap as <T>(value: T) => PromiseLike<T>);
  expect(texts).toEqual([]);
  await end;
  expect(stages).toEqual(STAGES);
  expect(texts).toEqual(['{"thing":"a thing"}']);
});
