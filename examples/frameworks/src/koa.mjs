import { healthcheck } from '@apistrata/healthcheck';
import { koaHealthcheck } from '@apistrata/healthcheck/koa';
import { before, since, versioning } from '@apistrata/microversion';
import { byVersion, koaMicroversion } from '@apistrata/microversion/koa';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { koaQuota } from '@apistrata/quota/koa';
import { koaRequestId } from '@apistrata/request-id/koa';
import Koa from 'koa';

const notes = new Map();
const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = koaQuota({ quota, kind: 'notes', project: (ctx) => ctx.get('x-account') });

const app = new Koa();
app.use(koaRequestId());
app.use(koaHealthcheck(healthcheck()));
app.use(koaMicroversion(versioning({ versions: ['2025-03-01', '2026-11-22'] })));

const list = byVersion([
  before('2026-11-22', (ctx) => {
    ctx.body = [...notes.keys()];
  }),
  since('2026-11-22', (ctx) => {
    ctx.body = { notes: [...notes.values()] };
  }),
]);
// Koa has no router. With one: `router.get('/notes', list)` and `router.post('/notes', countNotes, create)`.
app.use((ctx, next) => (ctx.method === 'GET' && ctx.path === '/notes' ? list(ctx, next) : next()));
app.use((ctx, next) => (ctx.path.startsWith('/notes') ? countNotes(ctx, next) : next()));
app.use((ctx) => {
  if (ctx.method === 'POST' && ctx.path === '/notes') {
    const note = { id: String(notes.size + 1), by: ctx.req.id };
    notes.set(note.id, note);
    ctx.status = 201;
    ctx.body = note;
  } else if (ctx.method === 'DELETE') {
    ctx.status = notes.delete(ctx.path.slice('/notes/'.length)) ? 204 : 404;
  }
});

export const server = app.listen(Number(process.env.PORT ?? 3000));
