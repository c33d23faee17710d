// A host program with idle machines that a QEMU stub simulates; qemu.mjs starts it as a separate process. Arguments:
// directory, number of machines, milliseconds of idle time.
import { join } from 'node:path';
import { createEngine } from '@apistrata/compute-engine';
import { qemuDriver } from '@apistrata/qemu';
import { emptyCloud } from './qemu-cloud.mjs';

const [directory, count, restMs] = process.argv.slice(2);
const { engine, context, request } = await emptyCloud(
  createEngine,
  qemuDriver,
  directory,
  join(import.meta.dirname, 'qemu-stub.py'),
);
for (let created = 0; created < Number(count); created += 10) {
  await engine.servers.create(context, { ...request, minCount: 10, maxCount: 10 });
  await engine.idle();
}
const active = (await engine.servers.list(context, { limit: 1000 })).filter(
  ({ vmState }) => vmState === 'active',
).length;
const before = process.cpuUsage();
const begun = performance.now();
await new Promise((resolve) => setTimeout(resolve, Number(restMs)));
const { user, system } = process.cpuUsage(before);
const busy = (user + system) / 1000 / (performance.now() - begun);
process.send({ active, rssMib: process.memoryUsage.rss() / 2 ** 20, busy: busy * 100 });
for (const { id } of await engine.servers.list(context, { limit: 1000 })) await engine.servers.delete(context, id);
await engine.idle();
await engine.close();
