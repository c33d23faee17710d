import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../testing/eventually.js';

const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
const readme = read('../README.md');
const page = read('../../../docs/quota-and-rate-limits.md');

const JWT_SECRET = 'a secret of the tests with 32 bytes';
/** Returns a JWT with these claims. */
const sign = (claims: object, secret = JWT_SECRET) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));

async function load(file: string) {
  const { app, mails = [] } = (await import(/* @vite-ignore */ join(import.meta.dirname, file))) as {
    readonly app: RequestListener;
    readonly mails?: readonly string[];
  };
  const agent = supertest(app);
  const post = (path: string, headers: Record<string, string> = { 'X-Account': 'acme' }) =>
    agent.post(path).set(headers);
  const statuses = async (path: string, count: number, claims?: object) => {
    const found: number[] = [];
    const headers = claims ? { Authorization: `Bearer ${await sign(claims)}` } : undefined;
    for (let i = 0; i < count; i++) found.push((await post(path, headers)).status);
    return found;
  };
  return { app, agent, post, statuses, mails };
}

describe('the pages', () => {
  it.each([
    ['side-by-side.example.mjs', page],
    ['recipes.example.mjs', readme],
    ['coming-from/old.example.mjs', readme],
    ['coming-from/new.example.mjs', readme],
  ])('show %s as this test runs it', (file, text) => {
    expect(text).toContain(`\`\`\`js\n${read(file)}\`\`\``);
  });
});

describe('one app with two rate limiters and a quota', () => {
  it('limits requests and resources separately', async () => {
    const { agent, statuses, post } = await load('side-by-side.example.mjs');
    expect(await statuses('/exports', 3)).toEqual([202, 202, 429]);
    expect(await statuses('/invoices?invalid=1', 3)).toEqual([400, 400, 400]);
    expect(await statuses('/invoices', 3)).toEqual([201, 201, 403]);
    const { body } = await agent.get('/usage').set('X-Account', 'acme');
    expect(body.quotas[0].text).toBe('2 of 2 used');
    const rejected = await post('/invoices');
    expect(rejected.headers.ratelimit).toMatch(/^"20-in-1min"; ?r=\d+; ?t=\d+, "invoices";r=0$/);
    await agent.delete('/invoices/1').set('X-Account', 'acme').expect(204);
    expect(await statuses('/invoices', 2)).toEqual([201, 403]);
    expect(await statuses('/invoices', 8)).toContain(429);
  });
});

describe('the recipes', () => {
  const secrets = { SESSION_SECRET: 'a secret of the tests', JWT_SECRET };
  beforeAll(() => {
    for (const [name, value] of Object.entries(secrets)) vi.stubEnv(name, value);
  });
  afterAll(() => void vi.unstubAllEnvs());

  it('count by the user of a session, and of a verified JWT', async () => {
    const { agent, statuses, app } = await load('recipes.example.mjs');
    const browser = supertest.agent(app);
    await browser.post('/drafts').expect(401);
    await browser.post('/login/ada').expect(204);
    await browser.post('/drafts').expect(201);
    expect(await statuses('/drafts', 2, { sub: 'ada' })).toEqual([201, 403]);
    await browser.post('/drafts').expect(403);
    const forged = await sign({ sub: 'eve' }, 'another secret with at least 32 bytes');
    await agent.post('/drafts').set('Authorization', `Bearer ${forged}`).expect(401);
  });

  it('count by user, by organization and by plan', async () => {
    const { statuses } = await load('recipes.example.mjs');
    expect(await statuses('/drafts', 3, { sub: 'carol' })).toEqual([201, 201, 403]);
    expect(await statuses('/drafts', 1, { sub: 'bob' })).toEqual([201]);
    expect(await statuses('/seats', 4, { sub: 'ada', org: 'globex' })).toEqual([201, 201, 201, 403]);
    expect(await statuses('/seats', 5, { sub: 'ada', org: 'acme' })).toEqual([201, 201, 201, 201, 403]);
    expect(await statuses('/reports', 2, { sub: 'ada', plan: 'free' })).toEqual([201, 403]);
    expect(await statuses('/reports', 3, { sub: 'ada', plan: 'pro' })).toEqual([201, 201, 403]);
  });

  it('send an email at 80 % and 100 %', async () => {
    const { statuses, mails } = await load('recipes.example.mjs');
    await statuses('/invoices', 6, { sub: 'ada' });
    await eventually(() => expect(mails).toEqual(['ada uses 4 of 5 invoices', 'ada uses 5 of 5 invoices']));
  });
});

describe('an express-rate-limit app that counts resources', () => {
  it.each([
    ['old', 429],
    ['new', 201],
  ])('%s: rejects the third, does not count failures, and responds with %i after a deletion', async (age, after) => {
    const { agent, statuses } = await load(`coming-from/${age}.example.mjs`);
    expect(await statuses('/invoices?invalid=1', 3)).toEqual([400, 400, 400]);
    expect(await statuses('/invoices', 3)).toEqual([201, 201, 429]);
    await agent.delete('/invoices/1').set('X-Account', 'acme').expect(204);
    expect(await statuses('/invoices', 1)).toEqual([after]);
  });
});
