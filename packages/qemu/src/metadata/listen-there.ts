import { createServer } from 'node:net';

// A process of its own that is started in a network namespace: what it listens on stays there when it is handed over.
const [address, port] = process.argv.slice(2);
const server = createServer({ pauseOnConnect: true });
server.listen({ host: address, port: Number(port) }, () => {
  process.send?.('listening', server, undefined, () => process.exit());
});
