import { randomBytes, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Duplex, PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { VolumeStorage } from '@apistrata/catalogs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import type { DriverServices } from '../../src/drivers/driver-services.js';
import type { HostLinks, HostRequester, LinkResponse } from '../../src/drivers/host-links.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { createHost, type Host } from '../../src/hosts/create-host.js';
import { HostLinkClient, HostUnreachable } from '../../src/hosts/links/host-link-client.js';
import { createLinkFinder } from '../../src/hosts/links/link-request.js';
import { apiCredentials, HostLinkKeys } from '../../src/hosts/links/link-security.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { generateSecretKey, Sealer } from '../../src/secrets/sealer.js';
import { contextOf, imageId } from '../engine-under-test.js';

const postgresUrl = inject('postgresUrl');
const BIG = randomBytes(3 * 2 ** 20);

/** Simulated machines whose consoles repeat their input, with a driver that responds to requests from other drivers. */
class EchoDriver extends SimulatedDriver {
  async openConsole(): Promise<Duplex> {
    const line = new PassThrough();
    return Duplex.from({
      writable: line,
      readable: Readable.from(
        (async function* () {
          for await (const chunk of line) yield `${chunk}${chunk}`;
        })(),
      ),
    });
  }

  async handleHostRequest(request: unknown, _signal: AbortSignal, from: HostRequester): Promise<LinkResponse> {
    if (request instanceof Object && 'concerns' in request)
      return { value: [from.host, await from.concerns(String(request.concerns))] };
    if (request === 'big') return { stream: Readable.from([BIG]) };
    if (request === 'line') return { stream: await this.openConsole() };
    if (request === 'half') {
      const half = new Readable({ read() {} });
      half.push('half');
      setTimeout(() => half.destroy(new Error('the disk is broken')), 50);
      return { stream: half };
    }
    if (request === 'value') return { value: [1, { two: 2 }] };
    throw new RangeError('unknown');
  }
}

/** An `EchoDriver` with volumes. Its copies are consistent immediately, and complete when the test ends them. */
class VolumeDriver extends EchoDriver {
  readonly ends = new EventEmitter();
  readonly volumes: VolumeStorage = {
    create: async (_caller, { origin }, onCaptured) => {
      if (origin.kind !== 'copy') return;
      onCaptured?.();
      const [reason] = await once(this.ends, 'end');
      if (reason) throw new Error(reason);
    },
    remove: async () => {},
    extend: async () => {},
    read: async () => undefined,
    reimage: async () => {},
    replace: async () => {},
    list: async () => [],
    usage: async () => ({ backend: 'lvm', totalBytes: 3, freeBytes: 2, allocatedBytes: 1 }),
  };
}

describe.skipIf(!postgresUrl)('links between the processes of a cloud', { timeout: 60_000 }, () => {
  const secretKey = generateSecretKey();
  const signal = new AbortController().signal;
  const hosts = new Map<string, Host>();
  let links: HostLinks;
  let volumeDriver: VolumeDriver;
  let database: string;
  let engine: Engine;

  const start = async (name: string) => {
    const driver = (clock: ConstructorParameters<typeof SimulatedDriver>[0]['clock'], services: DriverServices) => {
      if (name === 'a') links = services.hosts!;
      if (name !== 'b') return new EchoDriver({ clock });
      volumeDriver = new VolumeDriver({ clock });
      return volumeDriver;
    };
    hosts.set(name, await createHost({ database, secretKey, name, driver, address: '127.0.0.1' }));
  };

  beforeAll(async () => {
    database = await freshDatabase(postgresUrl);
    const preset = { ...defaultPreset, hosts: [] };
    engine = await createEngine({ database, secretKey, driver: noMachines(), preset });
    await start('a');
    await start('b');
  }, 60_000);

  afterAll(async () => {
    for (const host of hosts.values()) await host.stop();
    await engine?.close();
  });

  it('carry values, complete streams, and errors', async () => {
    expect(links.self).toBe('a');
    expect(await links.request('b', 'value', signal)).toEqual([1, { two: 2 }]);
    expect((await buffer(await links.read('b', 'big', signal))).equals(BIG)).toBe(true);
    for (const method of ['request', 'read', 'connect'] as const)
      await expect(links[method]('b', 'nothing', signal)).rejects.toThrow('unknown');
  });

  it('carry bytes in both directions', async () => {
    const line = await links.connect('b', 'line', signal);
    const received = text(line);
    line.end('ho');
    expect(await received).toBe('hoho');
  });

  it('report an incomplete stream as an error', async () => {
    const stream = await links.read('b', 'half', signal);
    await expect(text(stream)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('reject a response that is not of the requested kind', async () => {
    await expect(links.request('b', 'big', signal)).rejects.toThrow('the host b sent bytes instead of a value');
    await expect(links.read('b', 'value', signal)).rejects.toThrow('the host b sent a value instead of bytes');
    await expect(links.connect('b', 'value', signal)).rejects.toThrow('is not a connection');
  });

  it('stay open if the signal is aborted after the connection is established', async () => {
    const opening = new AbortController();
    const line = await links.connect('b', 'line', opening.signal);
    opening.abort();
    const received = text(line);
    line.end('ho');
    expect(await received).toBe('hoho');
  });

  it('report when the source of a volume copy may change again, and the result of the copy', async () => {
    const { volumes } = engine.embedded;
    const { caller } = contextOf('p1');
    const { id: volumeId } = await volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1 });
    const ended = async (reason?: string) => {
      const notified = new EventEmitter();
      const captured = once(notified, 'taken');
      const creation = volumes
        .createSnapshot(caller, { key: randomUUID(), volumeId }, () => notified.emit('taken'))
        .then(({ status }) => status, String);
      await captured;
      volumeDriver.ends.emit('end', reason);
      return creation;
    };
    expect(await ended()).toBe('available');
    expect(await ended('the disk is full')).toMatch(/The storage of volumes failed: the disk is full/);
  });

  it('report which host is down', async () => {
    await expect(links.request('nowhere', 'value', signal)).rejects.toThrow(HostUnreachable);
    await start('c');
    await hosts.get('c')!.stop();
    hosts.delete('c');
    await expect(links.request('c', 'value', signal)).rejects.toThrow(/the host c cannot be reached/);
    await expect(links.request('b', 'value', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  });

  it('end when the signal is aborted while the address of the host is read', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const opening = new AbortController();
    const linkClient = new HostLinkClient({
      credentials: () => apiCredentials(new Sealer([secretKey]), 'b'),
      find: async () => {
        opening.abort(new Error('too late'));
        return { address: '127.0.0.1', port, publicKey: '' };
      },
    });
    await expect(linkClient.request('b', 'value', opening.signal)).rejects.toThrow('too late');
    silent.close();
  });

  it('connect the API to consoles of host processes', async () => {
    const context = contextOf('p1', { isAdmin: true });
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'b' } as const;
    const { servers } = await engine.servers.create(context, newServer);
    const server = await eventually(async () => {
      const now = await engine.servers.get(context, servers[0]!.id);
      expect(now.vmState).toBe('active');
      return now;
    });
    const token = new URL(await engine.consoles.open(context, server, 'serial')).searchParams.get('token')!;
    const console = await engine.consoles.connect(token);
    const received = text(console);
    console.end('ha');
    expect(await received).toBe('haha');
    await hosts.get('b')!.stop();
    await expect(engine.consoles.connect(token)).rejects.toMatchObject({ status: 409 });
    await start('b');
    (await engine.consoles.connect(token)).destroy();
  });

  const linkClientWith = (sealer: Sealer) =>
    new HostLinkClient({
      credentials: (host) => apiCredentials(sealer, host),
      find: createLinkFinder(coreOf(engine).store),
    });
  const value = { kind: 'driver', call: 'value' };

  it('require the secret key, or the key of a host, on both sides', async () => {
    const otherClient = linkClientWith(new Sealer([generateSecretKey()]));
    await expect(otherClient.request('b', value, signal)).rejects.toThrow(HostUnreachable);
    const { address, port } = (await createLinkFinder(coreOf(engine).store)('b'))!;
    const plain = connect(port, address);
    plain.end('POST / HTTP/1.1\r\nhost: b\r\ncontent-length: 32\r\n\r\n{"kind":"driver","call":"value"}');
    expect((await buffer(plain).catch(() => Buffer.alloc(0))).toString()).not.toContain('two');
    const rotated = linkClientWith(new Sealer([secretKey, generateSecretKey()]));
    expect(await rotated.request('b', value, signal)).toEqual([1, { two: 2 }]);
  });

  /** Returns a client that opens links with the key of a host. */
  const asHost = (sealer: Sealer) => {
    const keys = new HostLinkKeys(sealer);
    return new HostLinkClient({
      credentials: (_, { publicKey }) => keys.credentialsFor(publicKey),
      find: createLinkFinder(coreOf(engine).store),
    });
  };

  it('authenticate the host that sends a request: it cannot impersonate another host or the API', async () => {
    const cloud = new Sealer([secretKey]);
    expect(await asHost(cloud.sealerForHost('a')).request('b', value, signal)).toEqual([1, { two: 2 }]);
    // One key belongs to this cloud, but no host has published it. The other key belongs to another cloud.
    for (const sealer of [cloud.sealerForHost('gone'), new Sealer([generateSecretKey()])])
      await expect(asHost(sealer).request('b', value, signal)).rejects.toThrow(
        'the link was opened with a key that does not belong to a host of this cloud',
      );
    const { identity } = apiCredentials(cloud, 'b');
    const impersonator = new HostLinkClient({
      credentials: () => ({ identity, psk: apiCredentials(cloud, 'a').psk }),
      find: createLinkFinder(coreOf(engine).store),
    });
    await expect(impersonator.request('b', value, signal)).rejects.toThrow(HostUnreachable);
  });

  it.each(['console', 'volumes', 'machine'])('reject the request %s of another host', async (kind) => {
    const ofA = asHost(new Sealer([secretKey]).sealerForHost('a'));
    const request = { kind, serverId: randomUUID(), type: 'serial', call: 'hostUptime', given: [] };
    await expect(ofA.request('b', request, signal)).rejects.toThrow(`the host a must not send the request ${kind}`);
  });

  it('pass the sending host, and the servers that concern it, to the driver', async () => {
    const context = contextOf('p1', { isAdmin: true });
    const server = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'a' } as const;
    const { servers } = await engine.servers.create(context, server);
    const { id } = servers[0]!;
    await eventually(async () => expect((await engine.servers.get(context, id)).vmState).toBe('active'));
    const requestResult = (linkClient: HostLinkClient, serverId: string) =>
      linkClient.request('b', { kind: 'driver', call: { concerns: serverId } }, signal);
    const cloud = new Sealer([secretKey]);
    expect(await requestResult(asHost(cloud.sealerForHost('a')), id)).toEqual(['a', true]);
    expect(await requestResult(asHost(cloud.sealerForHost('a')), randomUUID())).toEqual(['a', false]);
    expect(await requestResult(asHost(cloud.sealerForHost('b')), id)).toEqual(['b', false]);
    expect(await requestResult(linkClientWith(cloud), id)).toEqual([null, true]);
  });
});
