import cluster from 'node:cluster';
import { configJsonSchema } from './config-file.js';
import { helpText } from './help-text.js';
import { isHelpRequested, readOptions } from './read-options.js';
import { StartError } from './start-error.js';
import { printStartupMessage } from './startup-message.js';
import { programVersion } from './version.js';

function printJson(value: object): void {
  console.log(JSON.stringify(value, null, 2));
}

/** Runs a host of a cloud whose API is served by other processes. */
async function runHost(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const { hostHelpText, startHost } = await import('./host/host-command.js');
  if (isHelpRequested(args)) return console.log(hostHelpText());
  const runningHost = await startHost(args, environment, () => process.exit(1));
  const { shutDownGracefully } = await import('./shut-down-gracefully.js');
  shutDownGracefully(runningHost);
  if (runningHost.metricsUrl) console.log(`Metrics ${runningHost.metricsUrl}`);
  const { name, resources } = runningHost.host;
  const { vcpus, memoryMb, diskGb } = resources;
  console.log(`Host ${name} is up: ${vcpus} cores, ${memoryMb} MiB, ${diskGb} GiB (database ${runningHost.database})`);
}

/** Runs a command, or serves until the process is stopped. @throws StartError */
async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  // Some package managers pass on the separator `--`.
  const [command, ...rest] = args.filter((arg) => arg !== '--');
  if (command === 'admin') {
    const { admin } = await import('./admin/admin.js');
    const { output, exitCode } = await admin(rest, environment);
    console.log(output);
    process.exitCode = exitCode;
    return;
  }
  if (command === 'host') return runHost(rest, environment);
  const serverArgs = command === undefined ? [] : [command, ...rest];
  if (isHelpRequested(serverArgs)) return console.log(helpText());
  const options = readOptions(serverArgs, environment);
  if (options.version) return console.log(programVersion());
  if (options['print-config-schema']) return printJson(configJsonSchema());
  if (options['print-preset']) return printJson((await import('@apistrata/compute-engine')).defaultPreset);
  if (options['print-preset-schema'])
    return printJson((await import('@apistrata/compute-engine/preset')).presetJsonSchema());
  // Modules of the server are loaded only if needed.
  if (options['check-config']) {
    await (await import('./serve.js')).checkConfig(options, environment);
    return console.log('The configuration is valid.');
  }
  const workerContext = { rereadOptions: () => readOptions(serverArgs, environment), environment };
  if (cluster.isWorker) return (await import('./workers/worker.js')).serveAsWorker(options, workerContext);
  if (options.workers !== undefined) {
    const { serveByWorkers } = await import('./workers/serve-by-workers.js');
    return serveByWorkers(options, workerContext);
  }
  const { serve } = await import('./serve.js');
  const runningServer = await serve(options, environment);
  const [{ shutDownGracefully }, { reload }] = await Promise.all([
    import('./shut-down-gracefully.js'),
    import('./reload.js'),
  ]);
  shutDownGracefully(runningServer);
  process.on('SIGHUP', () => reload(runningServer, workerContext.rereadOptions));
  printStartupMessage(runningServer, options);
}

/** Runs the program. Prints user errors as one line and sets the exit code. */
export async function main(): Promise<void> {
  try {
    await runCommand(process.argv.slice(2), process.env);
  } catch (error) {
    console.error(error instanceof StartError ? error.message : error);
    process.exit(error instanceof StartError ? error.exitCode : 1);
  }
}
