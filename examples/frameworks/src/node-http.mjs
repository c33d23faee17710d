import { createServer } from 'node:http';
import { healthcheck } from '@apistrata/healthcheck';
import { before, byVersion, since, versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { requestId } from '@apistrata/request-id';

const notes = new Map();
const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = enforceQuota({ quota, kind: 'notes', project: (req) => String(req.headers['x-account']) });
const [ids, health, versions] = [requestId(), healthcheck(), versioning({ versions: ['2025-03-01', '2026-11-22'] })];

const send = (res, status, body) => {
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(body && JSON.stringify(body));
};
const list = byVersion([
  before('2026-11-22', (_req, res) => send(res, 200, [...notes.keys()])),
  since('2026-11-22', (_req, res) => send(res, 200, { notes: [...notes.values()] })),
]);

function create(req, res) {
  const note = { id: String(notes.size + 1), by: req.id };
  notes.set(note.id, note);
  send(res, 201, note);
}

function remove(req, res) {
  send(res, notes.delete(req.url.slice('/notes/'.length)) ? 204 : 404);
}

function route(req, res) {
  const fail = (error) => send(res, error.status ?? 500, { message: error.message });
  const handler = { GET: list, POST: create, DELETE: remove }[req.method];
  if (!handler || !req.url.startsWith('/notes')) return send(res, 404);
  if (req.method === 'GET') return list(req, res, fail);
  return countNotes(req, res, (error) => (error ? fail(error) : handler(req, res)));
}

// Each package calls the next one. The same listener works with `http2.createServer()`.
export const listener = (req, res) =>
  ids(req, res, () => health(req, res, () => versions(req, res, () => route(req, res))));

export const server = createServer(listener).listen(Number(process.env.PORT ?? 3000));
