import { PRINTS } from '../environment.js';
import type { TestCloud } from '../test-cloud.js';
import { clientsGone } from './clients-gone.js';
import { type CommandOptions, helpText, type RecordOptions, readCommand } from './options.js';
import { requestLine } from './request-line.js';
import { runProgram } from './run-program.js';

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Resolves when the process is told to end; that it was told again changes nothing. */
function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
}

/** @param tell what is said on standard output, before the log says that the cloud is there */
async function startedCloud(
  { cloud: options, quiet, verify }: CommandOptions,
  tell: (cloud: TestCloud) => string = () => '',
): Promise<TestCloud> {
  const begun = performance.now();
  if (options.preset === 'large') say('Making 500 hosts and 100,000 servers ...');
  // Loaded where a cloud is started: not for the help, nor for what is wrong with an option.
  const { startCloud } = await import('../start-cloud.js');
  const cloud = await startCloud({
    ...options,
    onError: (error) => say(`defect: ${(error as Error)?.stack ?? error}`),
  });
  process.stdout.write(tell(cloud));
  say(`The cloud is there after ${Math.round(performance.now() - begun)} ms. Look at it: ${cloud.url}/`);
  if (!quiet && verify === undefined) cloud.onRequest((entry) => say(requestLine(entry, process.stderr.isTTY)));
  return cloud;
}

async function stopCloud(cloud: TestCloud): Promise<void> {
  for (const { method, url, count } of cloud.unserved()) say(`not served: ${method} ${url} (${count} times)`);
  await cloud.stop();
}

/** Stays until it is told to end, or until the clients have gone. */
async function serve(command: CommandOptions): Promise<void> {
  const { user, project, print, waitForClientsMs } = command;
  const ends = [toldToEnd()];
  const cloud = await startedCloud(command, ({ envFor }) => PRINTS[print](envFor({ user, project })));
  if (waitForClientsMs !== undefined) ends.push(clientsGone(cloud, waitForClientsMs));
  await Promise.race(ends);
  await stopCloud(cloud);
}

async function serveProgram(command: CommandOptions, program: readonly string[]): Promise<number> {
  const cloud = await startedCloud(command);
  try {
    const { user, project } = command;
    return await runProgram(program, { ...cloud.envFor({ user, project }), TEST_CLOUD_URL: cloud.url });
  } finally {
    await stopCloud(cloud);
  }
}

async function record({ cloud: { port, host } }: CommandOptions, options: RecordOptions): Promise<void> {
  const { startRecorder } = await import('../recording/recorder.js');
  const onError = (error: unknown) => say(`not recorded: ${(error as Error).message}`);
  const recorder = await startRecorder({ ...options, port, host, onError });
  process.stdout.write(`export OS_AUTH_URL=${recorder.authUrl}\n`);
  say(`Recording ${options.authUrl} into ${options.file}.`);
  await toldToEnd();
  await recorder.stop();
  say(`${recorder.count} requests are in ${options.file}.`);
}

async function verify(command: CommandOptions, file: string): Promise<number> {
  const { readHar } = await import('../recording/har.js');
  const { verificationText, verifyRecording } = await import('../recording/verify.js');
  const har = await readHar(file);
  const cloud = await startedCloud(command);
  try {
    const verification = await verifyRecording(har, cloud);
    process.stdout.write(verificationText(verification));
    return verification.differences.length > 0 ? 1 : 0;
  } finally {
    await stopCloud(cloud);
  }
}

/** Gives the status to end with. */
async function run(args: readonly string[]): Promise<number> {
  const command = readCommand(args, process.env);
  if (command.help) process.stdout.write(helpText());
  else if (command.verify !== undefined) return verify(command, command.verify);
  else if (command.program) return serveProgram(command, command.program);
  else if (command.record) await record(command, command.record);
  else await serve(command);
  return 0;
}

/** What its user can put right, in words that need no stack. */
function readable(error: Error & { code?: string }): string | undefined {
  if (error.code === 'EADDRINUSE') return `The port is taken: ${error.message}. Try --port 0.`;
  const known = error.code === 'COMMAND_LINE' || error.code === 'ENOENT' || error.code === 'EACCES';
  return known || error instanceof TypeError || error instanceof RangeError ? error.message : undefined;
}

/** The program: does what the arguments say, and sets the status that the process ends with. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    // Signals that are listened to do not keep the process.
    process.exitCode = await run(args);
  } catch (error) {
    const text = readable(error as Error);
    say(text ?? String((error as Error).stack));
    process.exitCode = text === undefined || text.startsWith('The port') ? 1 : 2;
  }
}
