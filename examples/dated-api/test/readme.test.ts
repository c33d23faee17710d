import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import request from 'supertest';
import { expect, it } from 'vitest';
import { Accounts } from '../src/accounts.js';
import { createApi } from '../src/api.js';

it('the API responds to the commands of the README as documented', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const [, body] = /-d '(.+)'/.exec(readme) ?? [];
  const [created, shown] = readme.split('\n').filter((line) => line.startsWith('{'));
  const accounts = new Accounts();
  accounts.add('key-of-acme', 'Acme', '2023-11-01');
  const app = createApi({ accounts, now: () => Date.parse('2026-11-22') });
  const first = request(app).post('/invoices').set('Authorization', 'Bearer key-of-acme');
  expect((await first.set('Content-Type', 'application/json').send(body)).text).toBe(created);
  const second = request(app).get('/invoices/in_1').set('Authorization', 'Bearer key-of-acme');
  expect((await second.set('Invoices-Version', '2026-06-30')).text).toBe(shown);
});
