import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createRouter, operationsOf } from '../../src/router/index.js';
import { Version } from '../../src/version.js';

interface Said {
  /** Where it was asked for something, in order. */
  readonly stages: string[];
}

const show = {
  method: 'GET',
  path: '/things/{id}',
  summary: 'Show',
  status: 200,
  reply: { thing: z.string() },
} as const;

/** Serves one request with stages that answer with what is given; tells the response, and what it held when that returned. */
function serve(answered: <T>(value: T) => T | PromiseLike<T>) {
  const stages: string[] = [];
  const said = <T>(stage: string, value: T) => {
    stages.push(stage);
    return answered(value) as T | Promise<T>;
  };
  const operation = operationsOf<Said>()({
    ...show,
    target: () => said('target', { id: 'a' }),
    load: ({ target }) => said('load', target.id),
    run: ({ loaded }) => said('run', { thing: `${loaded} thing` }),
  });
  const router = createRouter<Said>({
    operations: [operation],
    call: () => said('call', { stages }),
    negotiate: () => Version.of('2.1'),
    authorize: () => said('authorize', undefined),
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

it('answers at once where no stage has to be waited for', () => {
  const { stages, texts } = serve((value) => value);
  expect(stages).toEqual(STAGES);
  expect(texts).toEqual(['{"thing":"a thing"}']);
});

it.each([
  ['a promise', <T>(value: T) => Promise.resolve(value)],
  // As query builders are.
  [
    'something else that has a then()',
    // biome-ignore lint/suspicious/noThenProperty: that it has one is what this is about
    <T>(value: T) => ({ then: (...args: Parameters<Promise<T>['then']>) => Promise.resolve(value).then(...args) }),
  ],
])('waits for each stage that answers with %s', async (_what, answered) => {
  const { stages, texts, end } = serve(answered as <T>(value: T) => PromiseLike<T>);
  expect(texts).toEqual([]);
  await end;
  expect(stages).toEqual(STAGES);
  expect(texts).toEqual(['{"thing":"a thing"}']);
});
