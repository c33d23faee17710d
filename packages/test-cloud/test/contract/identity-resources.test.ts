import { describeResources } from './resource-contract.js';

let count = 0;

describeResources('identity', {
  region: { create: () => ({ description: `region ${++count}` }), change: { description: 'changed' } },
});
