// A program with its own machines and networks. Each input line is a call of its engine: the path and the arguments of
// a method. Each output line is the result of a call.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createEngine } from '@apistrata/compute-engine';
import { qemuDriver } from '@apistrata/qemu';

const { directory, preset, acceleration = 'tcg', ...options } = JSON.parse(process.argv[2]);
const images = preset.images.map(({ file, ...image }) => ({
  ...image,
  content: file ? () => createReadStream(file) : Buffer.alloc(2 ** 20),
}));
const engine = await createEngine({
  database: `${directory}/cloud.db`,
  preset: { ...preset, images },
  driver: qemuDriver({
    directory: `${directory}/qemu`,
    acceleration,
    networkMode: 'bridge',
    ...options,
    shutdownTimeoutMs: 30_000,
    log: (line) => console.error(line),
  }),
  worker: { leaseMs: 1_000, pollMs: 100, retryMs: 200 },
  onError: (error) => console.error(error),
});
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
print({ value: 'up' });
for await (const line of createInterface({ input: process.stdin })) {
  const { path, args } = JSON.parse(line);
  try {
    const owner = path.slice(0, -1).reduce((thing, name) => thing[name], engine);
    print({ value: (await owner[path.at(-1)](...args)) ?? null });
  } catch (error) {
    print({ error: String(error?.stack ?? error) });
  }
}
await engine.close();
