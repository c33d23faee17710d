import { healthcheck } from '@apistrata/healthcheck';
import { honoHealthcheck } from '@apistrata/healthcheck/hono';
import { before, since, versioning } from '@apistrata/microversion';
import { byVersion, honoMicroversion } from '@apistrata/microversion/hono';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { honoQuota } from '@apistrata/quota/hono';
import { honoRequestId } from '@apistrata/request-id/hono';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const notes = new Map();
const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = honoQuota({ quota, kind: 'notes', project: (c) => String(c.req.header('x-account')) });

const app = new Hono();
app.use(honoRequestId());
app.use(honoHealthcheck(healthcheck()));
app.use(honoMicroversion(versioning({ versions: ['2025-03-01', '2026-11-22'] })));

app.get(
  '/notes',
  byVersion([
    before('2026-11-22', (c) => c.json([...notes.keys()])),
    since('2026-11-22', (c) => c.json({ notes: [...notes.values()] })),
  ]),
);
app.post('/notes', countNotes, (c) => {
  const note = { id: String(notes.size + 1), by: c.env.incoming.id };
  notes.set(note.id, note);
  return c.json(note, 201);
});
app.delete('/notes/:id', countNotes, (c) => c.body(null, notes.delete(c.req.param('id')) ? 204 : 404));

export const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
