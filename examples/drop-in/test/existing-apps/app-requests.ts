import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type supertest from 'supertest';
import ts from 'typescript';
import { expect } from 'vitest';

export interface ExistingApp {
  start(): Promise<RequestListener>;
  readonly log: readonly string[];
}

export interface RunningApp {
  readonly agent: ReturnType<typeof supertest>;
  readonly log: readonly string[];
}

const COMPILER_OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2022,
  esModuleInterop: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** Matches imports of this repository's packages, and code between `// + apistrata` and `// - apistrata`. */
const ADDITIONS = /^(?:import|const) [^;]*'@apistrata\/[^;]*;\n| *\/\/ \+ apistrata\n[\s\S]*?\/\/ - apistrata\n/gm;

/** Returns the code of an app as CommonJS, with or without the code that uses the packages. */
export function codeOf(name: string, added: boolean): string {
  const text = readFileSync(join(import.meta.dirname, name), 'utf8');
  const source = added ? text : text.replaceAll(ADDITIONS, '');
  return name.endsWith('.ts') ? ts.transpileModule(source, { compilerOptions: COMPILER_OPTIONS }).outputText : source;
}

/**
 * Sends requests to all routes of an app. Returns the statuses, the bodies, and the headers that other middleware sets.
 */
export async function useApp({ agent, log }: RunningApp) {
  const requests = [
    agent.get('/notes'),
    agent.post('/notes').send({}),
    agent.post('/notes').send({ text: 'milk' }),
    agent.get('/notes').set('Origin', 'https://shop.example').set('Accept-Encoding', 'gzip'),
    agent.delete('/notes/7'),
    agent.delete('/notes/1'),
    agent.get('/broken'),
    agent.get('/unknown'),
  ];
  const responses: unknown[] = [];
  for (const request of requests) {
    const { status, text, headers } = await request;
    const [encoding, frame, origin] = ['content-encoding', 'x-frame-options', 'access-control-allow-origin'];
    responses.push([status, text, headers[encoding], headers[frame], headers[origin]]);
  }
  return { responses, log: [...log] };
}

/** Checks that all routes of an app respond with the packages as they do without them. */
export async function expectUnchanged(without: RunningApp, withPackages: RunningApp): Promise<void> {
  const before = await useApp(without);
  expect(await useApp(withPackages)).toEqual(before);
  expect(before.responses.map((response) => (response as readonly unknown[])[0])).toEqual([
    200, 400, 201, 200, 404, 204, 500, 404,
  ]);
}

/** Checks that an app for notes, with a quota of two, has what the packages add. */
export async function expectAdditions(agent: RunningApp['agent'], { deleted = 204 } = {}): Promise<void> {
  await agent.get('/healthcheck').expect(200);
  const listed = await agent.get('/notes').set('X-Request-Id', 'order-4711').set('API-Version', '2026-11-01');
  expect([listed.status, listed.headers['x-request-id'], listed.headers['api-version']]).toEqual([
    200,
    'order-4711',
    '2026-11-01',
  ]);
  await agent.get('/notes').set('API-Version', '2020-01-01').expect(406);
  const create = () => agent.post('/notes').send({ text: 'milk' });
  await create().expect(201);
  await create().expect(201);
  const rejected = await create().expect(403);
  expect([rejected.type, rejected.headers.ratelimit]).toEqual(['application/problem+json', '"notes";r=0']);
  await agent.delete('/notes/1').expect(deleted);
  await create().expect(201);
}
