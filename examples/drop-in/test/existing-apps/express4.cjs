const compression = require('compression');
const cors = require('cors');
const express = require('express');
const helmet = require('helmet');
const morgan = require('morgan');
const { healthcheck } = require('@apistrata/healthcheck');
const { versioning } = require('@apistrata/microversion');
const { enforceQuota, memoryStore, projectQuotas } = require('@apistrata/quota');
const { requestId } = require('@apistrata/request-id');

const app = express();
const notes = new Map();
const log = [];

app.use(morgan(':method :url :status', { stream: { write: (line) => log.push(line) } }));
app.use(helmet(), cors(), compression({ threshold: 0 }), express.json());
// + apistrata
const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const counted = enforceQuota({ quota, kind: 'notes', project: () => 'everyone' });
app.use(requestId(), healthcheck(), versioning({ versions: ['2026-01-01', '2026-11-01'] }));
app.post('/notes', counted).delete('/notes/:id', counted);
// - apistrata
app.get('/notes', (_req, res) => res.json([...notes.values()]));
app.post('/notes', (req, res) => {
  if (!req.body.text) return res.status(400).json({ error: 'text is missing' });
  const note = { id: String(notes.size + 1), text: req.body.text };
  notes.set(note.id, note);
  return res.status(201).json(note);
});
app.delete('/notes/:id', (req, res) => res.status(notes.delete(req.params.id) ? 204 : 404).end());
app.get('/broken', () => {
  throw new Error('broken');
});
app.use((error, _req, res, _next) => res.status(500).json({ error: error.message }));

module.exports = { start: async () => app, log };
