import { defaultPreset } from '@apistrata/compute-engine';
import { endInOrder } from './end-in-order.js';
import { helpText, readOptions, StartError } from './options.js';
import { serve } from './serve.js';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options.help === 'true') return console.log(helpText());
  if (options['print-preset'] === 'true') return console.log(JSON.stringify(defaultPreset, null, 2));
  const running = await serve(options);
  endInOrder(running);
  console.log(`Compute API ${running.url}/v2.1 (database ${running.database})`);
  console.log(`Try: curl -H 'X-Auth-Token: ada:demo' ${running.url}/v2.1/flavors`);
}

main().catch((error) => {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
});
