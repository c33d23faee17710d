import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../guest/build-guest.js';
import { ada, NOTHING, QemuCloud } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: guests in their firmware: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('a guest that is still in its firmware', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  beforeAll(async () => {
    // This timeout is longer than the test may take.
    cloud = await QemuCloud.open({ shutdownTimeoutMs: 3_600_000 });
  });
  afterAll(() => cloud.close());

  it('is switched off without waiting for a shutdown that it cannot perform', async () => {
    const { id } = await cloud.create({ imageId: NOTHING });
    const stopped = await cloud.done(id, cloud.engine.servers.act(ada, id, 'os-stop'));
    expect(stopped).toMatchObject({ vmState: 'stopped', powerState: 4 });
  });
});
