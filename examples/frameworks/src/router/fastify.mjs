import Fastify from 'fastify';
import { router } from './api.mjs';

const app = Fastify();
app.get('/hello', async () => 'hello');
app.register(async (scope) => {
  // The router reads the body.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const serve = (request, reply) => {
    reply.hijack();
    // The headers that other plugins have set.
    for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value);
    router(request.raw, reply.raw);
  };
  scope.all('/notes', serve);
  scope.all('/notes/*', serve);
});

export const { server } = app;
await app.listen({ port: Number(process.env.PORT ?? 3000) });
