#!/usr/bin/env node
import { startCloud } from '../start-cloud.js';
import type { TestCloud } from '../test-cloud.js';
import { type CommandOptions, helpText, readCommand } from './options.js';
import { requestLine } from './request-line.js';

const say = (text: string) => process.stderr.write(`${text}\n`);

/** What a shell or a client reads to reach the cloud. */
function connection(cloud: TestCloud, { format, user, project }: CommandOptions): string {
  if (format === 'clouds.yaml') return cloud.cloudsYaml;
  const entries = Object.entries(cloud.envFor({ user, project }));
  return entries.map(([name, value]) => `export ${name}=${value}\n`).join('');
}

async function run(args: readonly string[]): Promise<void> {
  const command = readCommand(args);
  if (command.help) {
    process.stdout.write(helpText());
    return;
  }
  const begun = performance.now();
  if (command.cloud.preset === 'large') say('Making 500 hosts and 100,000 servers ...');
  const cloud = await startCloud({
    ...command.cloud,
    onError: (error) => say(`defect: ${(error as Error)?.stack ?? error}`),
  });
  process.stdout.write(connection(cloud, command));
  say(`The cloud is there after ${Math.round(performance.now() - begun)} ms. Look at it: ${cloud.url}/`);
  if (!command.quiet) cloud.onRequest((entry) => say(requestLine(entry, process.stderr.isTTY)));

  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    for (const { method, url, count } of cloud.unserved()) say(`not served: ${method} ${url} (${count} times)`);
    await cloud.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
}

run(process.argv.slice(2)).catch((error: Error & { code?: string }) => {
  const readable = error.code === 'COMMAND_LINE' || error instanceof TypeError || error instanceof RangeError;
  say(
    error.code === 'EADDRINUSE'
      ? `The port is taken: ${error.message}. Try --port 0.`
      : readable
        ? error.message
        : String(error.stack),
  );
  process.exitCode = readable ? 2 : 1;
});
