import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedNetworkCatalog, embeddedNetworks } from '../../src/network/builtin/embedded-networks.js';
import {
  ada,
  addresses,
  bob,
  type NetworksUnderTest,
  networksUnderTest,
  newPortRequest,
} from './networks-under-test.js';

describe.each(networksUnderTest)('embedded networks that accept unknown ids on $kind', ({ open }) => {
  let cloud: NetworksUnderTest;
  let store: NetworksUnderTest['store'];
  let networks: NetworksUnderTest['networks'];

  beforeAll(async () => {
    cloud = await open();
    ({ store, networks } = cloud);
  });
  afterAll(() => cloud.close());

  let accepting: EmbeddedNetworkCatalog;
  beforeAll(() => {
    accepting = embeddedNetworks({ store, unknown: 'accept' });
  });

  it('create a network with free addresses for an unknown id', async () => {
    const id = randomUUID();
    const created = await Promise.all(
      Array.from({ length: 6 }, () => accepting.createPorts(ada, [newPortRequest(id)]).then(([one]) => one!)),
    );
    expect(new Set(created.flatMap(addresses)).size).toBe(6);
    expect(await networks.getNetwork(bob, id)).toMatchObject({ id, shared: true });
    expect((await networks.availableNetworks(bob)).map((network) => network.id)).not.toContain(id);
  });

  it('create ports and groups for unknown ids', async () => {
    const id = randomUUID();
    expect(await accepting.getPort(ada, id)).toMatchObject({ id, deviceId: '', projectId: 'p-ada', status: 'DOWN' });
    expect(await networks.getPort(ada, id)).toMatchObject({ id });
    expect(await accepting.resolveSecurityGroups(ada, ['never-seen'])).toMatchObject([{ name: 'never-seen' }]);
    expect(await networks.resolveSecurityGroups(ada, ['never-seen'])).toMatchObject([{ name: 'never-seen' }]);
  });
});
