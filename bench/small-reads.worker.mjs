// A compute API in a separate process as the reference server runs it, and bare Express routes of the same server with
// the same log and the same authentication, which send the same headers and bodies. Argument: the database.
import { createEngine, defaultPreset } from '@apistrata/compute-engine';
import { computeApi, noauth } from '@apistrata/compute-router';
import express from 'express';
import { expressServer } from '../examples/reference-server/dist/express-server.js';
import { openLog } from '../examples/reference-server/dist/open-log.js';
import { requestLog } from '../packages/compute-router/dist/http/request-log.js';
import { largeHosts } from './large-hosts.mjs';
import { SECRET_KEY } from './server-process.mjs';

const [database] = process.argv.slice(2);
const preset = { ...defaultPreset, hosts: largeHosts };
const engine = await createEngine({ database, preset, secretKey: SECRET_KEY });
const identity = noauth();
const logger = await openLog({ 'log-level': 'info', 'log-format': 'json' });
const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.get('/usage', (_req, res) => {
  const { user, system } = process.cpuUsage();
  res.json((user + system) / 1000);
});
const responses = [];
app.get('/bare/:index', requestLog(logger), (req, res) => {
  const caller = identity(req);
  if (!caller) return res.status(401).end();
  const { headers, body } = responses[req.params.index];
  res.set(headers).send(body);
});
app.use(computeApi({ engine, identity, maxVersion: 'latest', logger }));
const server = expressServer(app);
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));

process.on('message', (prepared) => {
  responses.push(...prepared);
  process.send({});
});
process.on('disconnect', () => process.exit(0));
