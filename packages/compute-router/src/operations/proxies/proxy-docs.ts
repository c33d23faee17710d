import { until } from '@apistrata/microversion';
import { resource } from '../../reference/resource.js';

/** The versions at which the compute API forwards requests to the image, networking and volume services. */
const window = until('2.35', true);

export const imageProxyDocs = {
  ...resource({
    tag: 'proxies',
    parameters: { id: 'UUID of the image. In paths below `metadata`, the key of the metadata item.' },
  }),
  window,
};

export const networkProxyDocs = {
  ...resource({
    tag: 'proxies',
    parameters: {
      id: 'ID of the network, floating IP address, security group or rule. In paths of fixed IP addresses, the address. In paths of bulk lists, the name of the host.',
      domain_id: 'Name of the DNS domain.',
    },
  }),
  window,
};

export const volumeProxyDocs = {
  ...resource({ tag: 'proxies', parameters: { id: 'UUID of the volume, snapshot or node.' } }),
  window,
};
