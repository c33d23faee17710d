import { healthcheck } from '@apistrata/healthcheck';
import { before, byVersion, since, versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { requestId } from '@apistrata/request-id';
import express from 'express';

const notes = new Map();
const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = enforceQuota({ quota, kind: 'notes', project: (req) => String(req.headers['x-account']) });

const app = express();
app.use(requestId(), healthcheck(), versioning({ versions: ['2025-03-01', '2026-11-22'] }));

app.get(
  '/notes',
  byVersion([
    before('2026-11-22', (_req, res) => res.json([...notes.keys()])),
    since('2026-11-22', (_req, res) => res.json({ notes: [...notes.values()] })),
  ]),
);
app.post('/notes', countNotes, (req, res) => {
  const note = { id: String(notes.size + 1), by: req.id };
  notes.set(note.id, note);
  res.status(201).json(note);
});
app.delete('/notes/:id', countNotes, (req, res) => {
  res.sendStatus(notes.delete(req.params.id) ? 204 : 404);
});

export const server = app.listen(Number(process.env.PORT ?? 3000));
