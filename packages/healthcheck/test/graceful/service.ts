// A service that a test starts as a process and ends with a signal. It prints one line for each step.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gracefulServer } from '../../src/server/index.js';

const printLine = (line: string) => process.stdout.write(`${line}\n`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const mode = process.env.MODE;

const server = createServer(async (req, res) => {
  const work = req.url === '/work' ? service.beacon('work') : undefined;
  if (req.url === '/slow') printLine('slow');
  await pause(req.url === '/slow' ? 700 : 5);
  res.end(`done ${req.url}`);
  if (!work) return;
  await pause(600);
  printLine('work done');
  work.end();
});
const service = gracefulServer(server, {
  health: { groups: { live: { backends: [] }, ready: { backends: [] } }, startsReady: false },
  port: 0,
  host: '127.0.0.1',
  beforeShutdown: async () => {
    printLine(`before shutdown, ready: ${(await service.health.status('ready')).available}`);
    if (mode === 'hangs') await new Promise(() => {});
  },
  onShutdown: [
    () => {
      printLine('first hook');
      if (mode === 'fails') throw new Error('database is gone');
    },
    async () => {
      await pause(10);
      printLine('second hook');
    },
  ],
  delayMs: mode === 'loaded' ? 2_000 : 300,
  quietMs: mode === 'loaded' ? 1_500 : 50,
  timeoutMs: mode === 'hangs' ? 500 : 20_000,
});
server.listen(0, '127.0.0.1', async () => {
  service.health.markReady();
  await service.health.whenFirstReady();
  const ports = [server, service.healthServer].map((each) => (each?.address() as AddressInfo | undefined)?.port);
  printLine(`ports ${ports.join(' ')}`);
});
