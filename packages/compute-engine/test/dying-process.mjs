import { createEngine } from '@apistrata/compute-engine';

/**
 * A process that dies in the middle of a request: it has asked another service to do something, says so, and never comes
 * to write it down. Arguments: the database, the catalog and its method, what to ask for as JSON.
 */
const [database, catalog, method, asked] = process.argv.slice(2);
const engine = await createEngine({ database });
const original = engine.catalogs[catalog];
const dying = async (...args) => {
  await original[method](...args);
  console.log('done');
  await new Promise(() => {});
};
Object.assign(engine.catalogs, { [catalog]: { ...original, [method]: dying } });
const { context, create, server, volume, port } = JSON.parse(asked);
if (create) await engine.servers.create(context, create);
else if (volume) await engine.servers.act(context, server, 'attachVolume', volume);
else await engine.servers.act(context, server, 'attachInterface', port);
