import { catalogChanges, embeddedCatalogs } from '@apistrata/catalogs/builtin';
import { openStore } from '@apistrata/record-store';

const store = await openStore(':memory:', catalogChanges);
const { networks } = embeddedCatalogs({ store, clock: { now: Date.now } });
const ada = { userId: 'ada', projectId: 'demo', roles: ['member'] };
const { id } = await networks.createNetwork(ada, { name: 'inside' });
await networks.createSubnet(ada, { networkId: id, cidr: '10.1.0.0/24' });
export const network = await networks.getNetwork(ada, id);
await store.close();
