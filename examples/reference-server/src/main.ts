import { defaultPreset } from '@apistrata/compute-engine';
import { endInOrder } from './end-in-order.js';
import { helpText, readOptions, StartError } from './options.js';
import { purge } from './purge.js';
import { serve } from './serve.js';

async function main(): Promise<void> {
  const args = process.argv.slice(2).filter((arg) => arg !== '--');
  const purging = args[0] === 'purge';
  const options = readOptions(purging ? args.slice(1) : args, process.env);
  if (options.help === 'true') return console.log(helpText());
  if (options['print-preset'] === 'true') return console.log(JSON.stringify(defaultPreset, null, 2));
  if (purging) return console.log(JSON.stringify(await purge(options)));
  const running = await serve(options);
  endInOrder(running);
  console.log(`Compute API ${running.url}/v2.1 (database ${running.database})`);
  console.log(`Try: curl -H 'X-Auth-Token: ada:demo' ${running.url}/v2.1/flavors`);
}

main().catch((error) => {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
});
