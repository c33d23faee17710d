// A host program with idle machines that a QEMU stub simulates, in a separate process. Arguments: a directory, which
// may contain the machines of an earlier process, and the number of machines. Reports when the machines run. Then,
// each message requests one of the `commands`.
import { join } from 'node:path';
import { IMAGE, openCloud } from './qemu-cloud.mjs';

const [directory, count] = process.argv.slice(2);
const engine = await openCloud(directory, { program: join(import.meta.dirname, 'qemu-stub.py') });
const context = {
  caller: { userId: 'ada', projectId: 'demo', roles: ['admin'] },
  requestId: 'req-bench',
  isAdmin: true,
};
const servers = () => engine.servers.list(context, { limit: 1000 });

const commands = {
  /** Measures the resources that the program needs while it is idle. */
  async rest({ restMs }) {
    const before = process.cpuUsage();
    const begun = performance.now();
    await new Promise((resolve) => setTimeout(resolve, restMs));
    const { user, system } = process.cpuUsage(before);
    const busy = (user + system) / 1000 / (performance.now() - begun);
    return { rssMib: process.memoryUsage.rss() / 2 ** 20, busy: busy * 100 };
  },
  /** Counts the machines that respond to a query. */
  async respond() {
    const found = await Promise.all((await servers()).map((server) => engine.servers.diagnostics(server)));
    return found.filter((diagnostics) => diagnostics?.state === 'running').length;
  },
  /** Deletes the machines. */
  async remove() {
    for (const { id } of await servers()) await engine.servers.delete(context, id);
    await engine.idle();
    await engine.close();
  },
};
process.on('message', async ({ command, ...options }) => process.send({ done: await commands[command](options) }));

for (let created = (await servers()).length; created < Number(count); created += 10) {
  const request = { name: 'web', flavorId: '1', imageId: IMAGE, networks: 'none', minCount: 10, maxCount: 10 };
  await engine.servers.create(context, request);
  await engine.idle();
}
process.send({ done: (await servers()).filter(({ vmState }) => vmState === 'active').length });
