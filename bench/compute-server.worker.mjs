// A compute API in a separate process, with bare Express routes that send the same bytes. Arguments: database, and
// options of the engine as JSON (`hosts`: those of the preset; `driver`: a name in `drivers`). Commands are messages: { bare: [paths] } prepares the
// routes /bare/0, /bare/1, ...
import { once } from 'node:events';
import { createEngine } from '@apistrata/compute-engine';
import { noMachines, SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { computeApi, noauth } from '@apistrata/compute-router';
import express from 'express';
import { expressServer } from '../examples/reference-server/dist/express-server.js';
import { largeHosts } from './large-hosts.mjs';
import { SECRET_KEY } from './server-process.mjs';

/** A driver whose steps take no time, but whose jobs store each task state, as the jobs of real drivers do. */
class AsynchronousDriver extends SimulatedDriver {
  isSynchronous() {
    return false;
  }
}

const drivers = { asynchronous: (clock) => new AsynchronousDriver({ clock }), none: noMachines };

const unlimited = Object.fromEntries(['instances', 'cores', 'ram'].map((kind) => [kind, -1]));
const { defaultPreset } = await import('@apistrata/compute-engine');
const [database, given] = process.argv.slice(2);
const { hosts = largeHosts, driver, ...options } = JSON.parse(given);
const engine = await createEngine({
  database,
  ...options,
  driver: drivers[driver],
  // Two processes share the database, so they need the same key.
  secretKey: SECRET_KEY,
  settings: { quotas: unlimited },
  // Filling a database takes longer than any query.
  statementTimeoutMs: 600_000,
  preset: { ...defaultPreset, hosts },
  onError: (error) => console.error(error),
});
const api = computeApi({ engine, identity: noauth(), maxVersion: 'latest', onError: (error) => console.error(error) });
const app = express();
const bodies = [];
app.get('/bare/:index', (req, res) => {
  res.type('json').send(bodies[req.params.index]);
});
app.get('/usage', (_req, res) => {
  res.json(process.cpuUsage());
});
app.get('/idle', async (_req, res) => {
  await engine.idle();
  res.json({});
});
app.use(api);

const server = expressServer(app);
// The same routes with Express's default settings.
const plain = app.listen(0, '127.0.0.1');
const urlOf = (listening) => `http://127.0.0.1:${listening.address().port}`;
await once(plain, 'listening');
server.listen(0, '127.0.0.1', () => process.send({ url: urlOf(server), plainUrl: urlOf(plain) }));

process.on('message', async ({ bare, version, populate }) => {
  if (populate) {
    const { populateServers } = await import('@apistrata/compute-engine/testing');
    await populateServers(engine, populate);
    process.send({ populated: populate.count });
    return;
  }
  const { port } = server.address();
  for (const [index, path] of bare.entries()) {
    const headers = { 'X-Auth-Token': 'admin:demo', 'OpenStack-API-Version': `compute ${version}` };
    bodies[index] = await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text();
  }
  process.send({ prepared: bodies.map((body) => body.length) });
});
process.on('disconnect', () => process.exit(0));
