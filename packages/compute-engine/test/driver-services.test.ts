import { afterEach, describe, expect, it } from 'vitest';
import type { DriverServices } from '../src/drivers/index.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { LedgerDriver } from './ledger-driver.js';

/** A driver that keeps the services that it receives, defines its snapshot format, and counts calls to `close`. */
class FormatDriver extends LedgerDriver {
  readonly snapshotFormat = 'qcow2';
  closed = 0;

  constructor(readonly services: DriverServices) {
    super();
  }

  async close(): Promise<void> {
    this.closed++;
  }
}

describe('a driver that a function creates', () => {
  let end: (() => Promise<void>) | undefined;
  afterEach(() => end?.());

  it('reads images, defines the format of snapshots, and is closed with the engine', async () => {
    let driver: FormatDriver | undefined;
    const engine = await engineUnderTest({
      driver: async (_clock, services) => {
        driver = new FormatDriver(services);
        return driver;
      },
    });
    end = () => engine.close();
    const ada = contextOf('p-ada');
    const { images } = engine.catalogs;
    const raw = '99999999-9999-4999-8999-999999999999';
    await images.create(ada.caller, { id: raw, name: 'raw', diskFormat: 'raw', containerFormat: 'ami' });
    await images.upload(ada.caller, raw, Buffer.from('content'));
    expect(await driver!.services.images.get(ada.caller, imageId)).toMatchObject({ id: imageId });
    const pieces: Uint8Array[] = [];
    for await (const chunk of await driver!.services.images.download(ada.caller, raw)) pieces.push(chunk);
    expect(Buffer.concat(pieces).toString()).toBe('content');

    const created = await engine.servers.create(ada, { name: 'one', flavorId: '1', imageId: raw, networks: 'none' });
    await engine.idle();
    const { id } = created.servers[0]!;
    const request = { name: 'copy', metadata: {}, limitMetadata: true };
    const copy = await engine.servers.act(ada, id, 'createImage', request);
    expect(await images.get(ada.caller, copy)).toMatchObject({ diskFormat: 'qcow2', containerFormat: 'bare' });
    await engine.idle();
    await engine.close();
    end = undefined;
    expect(driver!.closed).toBe(1);
  });
});
