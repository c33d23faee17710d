import { createEngine } from '@apistrata/compute-engine';

/**
 * A process that hangs during a request: it reports that another service has responded, but never stores the result.
 * Arguments: the database, the catalog and its method, the request as JSON.
 */
const [database, catalog, method, request] = process.argv.slice(2);
const engine = await createEngine({ database });
const original = engine.catalogs[catalog];
const dying = async (...args) => {
  await original[method](...args);
  console.log('done');
  await new Promise(() => {});
};
Object.assign(engine.catalogs, { [catalog]: { ...original, [method]: dying } });
const { context, create, server, volume, port } = JSON.parse(request);
if (create) await engine.servers.create(context, create);
else if (volume) await engine.servers.act(context, server, 'attachVolume', volume);
else await engine.servers.act(context, server, 'attachInterface', port);
