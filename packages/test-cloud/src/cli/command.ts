import { SETTINGS_FORMATS } from '../environment.js';
import type { TestCloud } from '../test-cloud.js';
import { type CommandOptions, helpText, type RecordOptions, readCommand } from './options.js';
import { formatRequestLine } from './request-line.js';
import { runProgram } from './run-program.js';
import { waitForIdleClients } from './until-clients-close.js';

const printLine = (line: string) => process.stderr.write(`${line}\n`);

/** Resolves on the first termination signal. Further signals have no effect, so that shutdown can complete. */
function waitForTermination(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
}

/** @param describe returns the text for standard output, written before the log reports that the cloud is ready */
async function startLoggedCloud(
  { cloud: options, quiet, verify: recordingFile }: CommandOptions,
  describe: (cloud: TestCloud) => string = () => '',
): Promise<TestCloud> {
  const startedAt = performance.now();
  if (options.preset === 'large') printLine('Creating 500 hosts and 100,000 servers ...');
  // This import is slow, so the help text and option errors must not depend on it.
  const { startCloud } = await import('../start-cloud.js');
  const cloud = await startCloud({
    ...options,
    onError: (error) => printLine(`error: ${(error as Error)?.stack ?? error}`),
  });
  process.stdout.write(describe(cloud));
  printLine(`The cloud is ready after ${Math.round(performance.now() - startedAt)} ms: ${cloud.url}/`);
  if (!quiet && recordingFile === undefined)
    cloud.onRequest((entry) => printLine(formatRequestLine(entry, process.stderr.isTTY)));
  return cloud;
}

async function stopCloud(cloud: TestCloud): Promise<void> {
  for (const { method, url, count } of cloud.unhandled()) printLine(`unhandled: ${method} ${url} (${count} times)`);
  await cloud.stop();
}

/** Runs a cloud until the process receives a termination signal or, with `--wait-for-clients`, the clients are idle. */
async function serveUntilStopped(command: CommandOptions): Promise<void> {
  const { print, project, waitForClientsMs } = command;
  // The second cloud in clouds.yaml has the administrator's credentials, so the first can have a member's.
  const { user = print === 'clouds.yaml' ? 'demo' : undefined } = command;
  const endConditions = [waitForTermination()];
  const cloud = await startLoggedCloud(command, ({ envFor }) => SETTINGS_FORMATS[print](envFor({ user, project })));
  if (waitForClientsMs !== undefined) endConditions.push(waitForIdleClients(cloud, waitForClientsMs));
  await Promise.race(endConditions);
  await stopCloud(cloud);
}

async function runWithCloud(command: CommandOptions, program: readonly string[]): Promise<number> {
  const cloud = await startLoggedCloud(command);
  try {
    const { user, project } = command;
    return await runProgram(program, { ...cloud.envFor({ user, project }), TEST_CLOUD_URL: cloud.url });
  } finally {
    await stopCloud(cloud);
  }
}

async function recordCloud({ cloud: { port, host } }: CommandOptions, options: RecordOptions): Promise<void> {
  const { startRecorder } = await import('../recording/recorder.js');
  const onError = (error: unknown) => printLine(`not recorded: ${(error as Error).message}`);
  const recorder = await startRecorder({ ...options, port, host, onError });
  process.stdout.write(`export OS_AUTH_URL=${recorder.authUrl}\n`);
  printLine(`Recording the requests to ${options.authUrl} in ${options.file}.`);
  await waitForTermination();
  await recorder.stop();
  printLine(`Recorded ${recorder.count} requests in ${options.file}.`);
}

async function verifyRecordingFile(command: CommandOptions, file: string): Promise<number> {
  const { readHar } = await import('../recording/har.js');
  const { formatVerification, verifyRecording } = await import('../recording/verify.js');
  const har = await readHar(file);
  const cloud = await startLoggedCloud(command);
  try {
    const verification = await verifyRecording(har, cloud);
    process.stdout.write(formatVerification(verification));
    return verification.differences.length > 0 ? 1 : 0;
  } finally {
    await stopCloud(cloud);
  }
}

/** Runs the command and returns its exit status. */
async function runCommand(args: readonly string[]): Promise<number> {
  const command = readCommand(args, process.env);
  if (command.help) process.stdout.write(helpText());
  else if (command.verify !== undefined) return verifyRecordingFile(command, command.verify);
  else if (command.program) return runWithCloud(command, command.program);
  else if (command.record) await recordCloud(command, command.record);
  else await serveUntilStopped(command);
  return 0;
}

/** Returns the message of an error that the user can fix; undefined for other errors, which need a stack trace. */
function userMessage(error: Error & { code?: string }): string | undefined {
  if (error.code === 'EADDRINUSE') return `The port is in use: ${error.message}. Try --port 0.`;
  const isUserError = error.code === 'COMMAND_LINE' || error.code === 'ENOENT' || error.code === 'EACCES';
  return isUserError || error instanceof TypeError || error instanceof RangeError ? error.message : undefined;
}

/** Executes the command line and sets the exit status of the process. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    // `process.exit()` is not necessary: signal listeners do not keep the process alive.
    process.exitCode = await runCommand(args);
  } catch (error) {
    const expectedMessage = userMessage(error as Error);
    printLine(expectedMessage ?? String((error as Error).stack));
    process.exitCode = expectedMessage === undefined || expectedMessage.startsWith('The port') ? 1 : 2;
  }
}
