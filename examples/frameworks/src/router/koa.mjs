import Koa from 'koa';
import { router } from './api.mjs';

const app = new Koa();
app.use((ctx, next) => {
  if (ctx.path !== '/hello') return next();
  ctx.body = 'hello';
});
app.use((ctx) => {
  ctx.respond = false;
  router(ctx.req, ctx.res);
});

export const server = app.listen(Number(process.env.PORT ?? 3000));
