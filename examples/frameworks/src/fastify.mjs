import { healthcheck } from '@apistrata/healthcheck';
import { fastifyHealthcheck } from '@apistrata/healthcheck/fastify';
import { before, since, versioning } from '@apistrata/microversion';
import { byVersion, fastifyMicroversion } from '@apistrata/microversion/fastify';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { fastifyQuota } from '@apistrata/quota/fastify';
import { fastifyRequestId } from '@apistrata/request-id/fastify';
import Fastify from 'fastify';

const notes = new Map();
const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = fastifyQuota({ quota, kind: 'notes', project: (request) => String(request.headers['x-account']) });

const app = Fastify();
app.register(fastifyRequestId());
app.register(fastifyHealthcheck(healthcheck()));
app.register(fastifyMicroversion(versioning({ versions: ['2025-03-01', '2026-11-22'] })));

app.get(
  '/notes',
  byVersion([
    before('2026-11-22', async () => [...notes.keys()]),
    since('2026-11-22', async () => ({ notes: [...notes.values()] })),
  ]),
);
app.post('/notes', { preHandler: countNotes }, async (request, reply) => {
  const note = { id: String(notes.size + 1), by: request.id };
  notes.set(note.id, note);
  return reply.code(201).send(note);
});
app.delete('/notes/:id', { preHandler: countNotes }, async (request, reply) =>
  reply.code(notes.delete(request.params.id) ? 204 : 404).send(),
);

export const { server } = app;
await app.listen({ port: Number(process.env.PORT ?? 3000) });
