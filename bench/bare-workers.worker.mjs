// A bare Express route served by several processes, like the reference server with `--workers`. Arguments: the
// number of processes, and the number of bytes that each response contains.
import cluster from 'node:cluster';
import express from 'express';
import { expressServer } from '../examples/reference-server/dist/express-server.js';

const [workers, bytes] = process.argv.slice(2).map(Number);
const body = JSON.stringify('x'.repeat(bytes - 2));

function serve() {
  const app = express();
  app.get('/bare', (_req, res) => void res.type('json').send(body));
  const server = expressServer(app);
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
