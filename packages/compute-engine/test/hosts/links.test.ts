import { randomBytes, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { Duplex, PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { VolumeStorage } from '@apistrata/catalogs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import type { DriverServices } from '../../src/drivers/driver-services.js';
import type { HostLinks, LinkAnswer } from '../../src/drivers/host-links.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { createHost, type Host } from '../../src/hosts/create-host.js';
import { HostCaller, HostUnreachable } from '../../src/hosts/links/host-caller.js';
import { linkFinder } from '../../src/hosts/links/link-question.js';
import { linkKeys } from '../../src/hosts/links/link-security.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { newSecretKey, Sealer } from '../../src/secrets/sealer.js';
import { contextOf, imageId } from '../engine-under-test.js';

const postgresUrl = inject('postgresUrl');
const BIG = randomBytes(3 * 2 ** 20);

/** Machines whose consoles say everything twice, and that answer each other. */
class TalkingDriver extends SimulatedDriver {
  async openConsole(): Promise<Duplex> {
    const line = new PassThrough();
    return Duplex.from({
      writable: line,
      readable: Readable.from(
        (async function* () {
          for await (const piece of line) yield `${piece}${piece}`;
        })(),
      ),
    });
  }

  async answer(question: unknown): Promise<LinkAnswer> {
    if (question === 'big') return { value: { bytes: BIG.length }, stream: Readable.from([BIG]) };
    if (question === 'half') {
      const half = new Readable({ read() {} });
      half.push('half');
      setTimeout(() => half.destroy(new Error('the disk is broken')), 50);
      return { stream: half };
    }
    if (question === 'value') return { value: [1, { two: 2 }] };
    throw new RangeError('nobody knows');
  }
}

/** The same with volumes, whose copies are of one moment at once and take until somebody says how they end. */
class KeepingDriver extends TalkingDriver {
  readonly ends = new EventEmitter();
  readonly volumes: VolumeStorage = {
    create: async (_caller, { origin }, taken) => {
      if (origin.kind !== 'copy') return;
      taken?.();
      const [why] = await once(this.ends, 'end');
      if (why) throw new Error(why);
    },
    remove: async () => {},
    extend: async () => {},
    reimage: async () => {},
    replace: async () => {},
    list: async () => [],
  };
}

describe.skipIf(!postgresUrl)('links between the processes of a cloud', { timeout: 60_000 }, () => {
  const secretKey = newSecretKey();
  const signal = new AbortController().signal;
  const hosts = new Map<string, Host>();
  let links: HostLinks;
  let keeper: KeepingDriver;
  let database: string;
  let engine: Engine;

  const start = async (name: string) => {
    const driver = (clock: ConstructorParameters<typeof SimulatedDriver>[0]['clock'], services: DriverServices) => {
      if (name === 'a') links = services.hosts!;
      if (name !== 'b') return new TalkingDriver({ clock });
      keeper = new KeepingDriver({ clock });
      return keeper;
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

  it('carry values, streams that are whole, and errors', async () => {
    expect(links.self).toBe('a');
    expect((await links.ask('b', 'value', signal)).value).toEqual([1, { two: 2 }]);
    const { value, stream } = await links.ask('b', 'big', signal);
    expect(value).toEqual({ bytes: BIG.length });
    expect((await buffer(stream)).equals(BIG)).toBe(true);
    await expect(links.ask('b', 'nothing', signal)).rejects.toThrow('nobody knows');
  });

  it('end where what was to come does not', async () => {
    const { stream } = await links.ask('b', 'half', signal);
    expect(await text(stream)).toBe('half');
  });

  it('tell when what a volume is copied from may change again, and how the copy has ended', async () => {
    const { volumes } = engine.embedded;
    const { caller } = contextOf('p1');
    const { id: volumeId } = await volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1 });
    const ended = async (why?: string) => {
      const told = new EventEmitter();
      const taken = once(told, 'taken');
      const made = volumes
        .createSnapshot(caller, { key: randomUUID(), volumeId }, () => told.emit('taken'))
        .then(({ status }) => status, String);
      await taken;
      keeper.ends.emit('end', why);
      return made;
    };
    expect(await ended()).toBe('available');
    expect(await ended('the disk is full')).toMatch(/cannot be kept: the disk is full/);
  });

  it('say which host is away', async () => {
    await expect(links.ask('nowhere', 'value', signal)).rejects.toThrow(HostUnreachable);
    await start('c');
    await hosts.get('c')!.stop();
    hosts.delete('c');
    await expect(links.ask('c', 'value', signal)).rejects.toThrow(/the host c cannot be reached/);
    await expect(links.ask('b', 'value', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  });

  it('bring the API consoles of hosts that are processes of their own', async () => {
    const context = contextOf('p1', { isAdmin: true });
    const wanted = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'b' } as const;
    const { servers } = await engine.servers.create(context, wanted);
    const server = await eventually(async () => {
      const now = await engine.servers.get(context, servers[0]!.id);
      expect(now.vmState).toBe('active');
      return now;
    });
    const token = new URL(await engine.consoles.open(context, server, 'serial')).searchParams.get('token')!;
    const console = await engine.consoles.connect(token);
    const said = text(console);
    console.end('ha');
    expect(await said).toBe('haha');
    await hosts.get('b')!.stop();
    await expect(engine.consoles.connect(token)).rejects.toMatchObject({ status: 409 });
    await start('b');
    (await engine.consoles.connect(token)).destroy();
  });

  it('are only for those who have the secret key, and take no stranger for one', async () => {
    const { store } = coreOf(engine);
    const find = linkFinder(store);
    const stranger = new HostCaller({ keys: linkKeys(new Sealer([newSecretKey()])), find });
    await expect(stranger.ask('b', { kind: 'driver', question: 'value' }, signal)).rejects.toThrow(HostUnreachable);
    const { address, port } = (await find('b'))!;
    const plain = connect(port, address);
    plain.end('{"kind":"driver","question":"value"}\n');
    expect(await buffer(plain).catch(() => Buffer.alloc(0))).not.toContain('two');
    // One who waits to be asked by us has to prove it as well.
    const rotated = new HostCaller({ keys: linkKeys(new Sealer([secretKey, newSecretKey()])), find });
    expect((await rotated.ask('b', { kind: 'driver', question: 'value' }, signal)).value).toEqual([1, { two: 2 }]);
  });
});
