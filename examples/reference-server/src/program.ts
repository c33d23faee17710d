import { configJsonSchema } from './config-file.js';
import { helpText } from './help-text.js';
import { readOptions } from './read-options.js';
import { StartError } from './start-error.js';

function print(value: object): void {
  console.log(JSON.stringify(value, null, 2));
}

/** A host of a cloud whose API other processes serve. */
async function runHost(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const { hostHelpText, startHost } = await import('./host/host-command.js');
  if (args.includes('--help')) return console.log(hostHelpText());
  const running = await startHost(args, environment, () => process.exit(1));
  const { endInOrder } = await import('./end-in-order.js');
  endInOrder(running);
  const { name, resources } = running.host;
  const { vcpus, memoryMb, diskGb } = resources;
  console.log(`Host ${name} is up: ${vcpus} cores, ${memoryMb} MiB, ${diskGb} GiB (database ${running.database})`);
}

/** The program: does what it is asked, or serves until it is told to end. Throws {@link StartError}. */
async function run(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  // npm hands a lone -- on to the program.
  const [command, ...rest] = args.filter((arg) => arg !== '--');
  if (command === 'admin') {
    const { admin } = await import('./admin/admin.js');
    const { output, exitCode } = await admin(rest, environment);
    console.log(output);
    process.exitCode = exitCode;
    return;
  }
  if (command === 'host') return runHost(rest, environment);
  const given = command === undefined ? [] : [command, ...rest];
  const options = readOptions(given, environment);
  if (options.help) return console.log(helpText());
  if (options['print-config-schema']) return print(configJsonSchema());
  if (options['print-preset']) return print((await import('@apistrata/compute-engine')).defaultPreset);
  if (options['print-preset-schema'])
    return print((await import('@apistrata/compute-engine/preset')).presetJsonSchema());
  // What serves is loaded only when something is served.
  const { checkConfig, serve } = await import('./serve.js');
  if (options['check-config']) {
    await checkConfig(options, environment);
    return console.log('The configuration is good.');
  }
  const running = await serve(options, environment);
  const { endInOrder } = await import('./end-in-order.js');
  const { nextSteps } = await import('./welcome.js');
  endInOrder(running);
  process.on('SIGHUP', async () => {
    try {
      await running.reload(readOptions(given, environment));
      running.log.info('policies, log level, limits of connections and rate limits are read again');
    } catch (error) {
      running.log.error({ err: error }, 'nothing has changed, for the new configuration is wrong');
    }
  });
  console.log(
    [
      `Compute API ${running.url}/v2.1 (database ${running.database})`,
      ...(running.metricsUrl ? [`Metrics ${running.metricsUrl}`] : []),
      `Try: ${nextSteps(running.url, options)[0]}`,
      `Or open ${running.url}/ in a browser. --help lists the options; Ctrl-C ends.`,
    ].join('\n'),
  );
}

/** Runs the program and tells what went wrong in one line, where it is the caller's to mend. */
export async function main(): Promise<void> {
  try {
    await run(process.argv.slice(2), process.env);
  } catch (error) {
    console.error(error instanceof StartError ? error.message : error);
    process.exit(error instanceof StartError ? error.exitCode : 1);
  }
}
