// A bare Express route served by several processes, as the reference server serves by `--workers`. Arguments: how many, and how many bytes it sends.
import cluster from 'node:cluster';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import express from 'express';

const [workers, bytes] = process.argv.slice(2).map(Number);
const body = JSON.stringify('x'.repeat(bytes - 2));

function serve() {
  const app = express();
  app.get('/bare', (_req, res) => void res.type('json').send(body));
  // As the reference server does: requests and responses already have Express's prototypes.
  function Request(...args) {
    return Reflect.construct(IncomingMessage, args, Request);
  }
  function Response(...args) {
    return Reflect.construct(ServerResponse, args, Response);
  }
  Request.prototype = app.request;
  Response.prototype = app.response;
  const server = createServer({ IncomingMessage: Request, ServerResponse: Response }, app);
  server.listen(0, '127.0.0.1');
}

if (cluster.isWorker) serve();
else {
  let missing = workers;
  cluster.on('listening', (_worker, { port }) => {
    missing--;
    if (missing === 0) process.send({ url: `http://127.0.0.1:${port}` });
  });
  for (let started = 0; started < workers; started++) cluster.fork();
  process.on('disconnect', () => process.exit(0));
}
