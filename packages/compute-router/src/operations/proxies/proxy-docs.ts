import { until } from '@apistrata/microversion';
import { resource } from '../../reference/resource.js';

/** The versions in which the compute API proxies the image, networking and volume services. */
const window = until('2.35', true);

export const imageProxyDocs = {
  ...resource({
    tag: 'proxies',
    parameters: { id: 'UUID of the image. Below `metadata`: the key of the item.' },
  }),
  window,
};

export const networkProxyDocs = {
  ...resource({
    tag: 'proxies',
    parameters: {
      id: 'ID of the network, floating IP address, security group or rule. For fixed IP addresses: the address. For bulk lists: the host.',
      domain_id: 'Name of the DNS domain.',
    },
  }),
  window,
};

export const volumeProxyDocs = {
  ...resource({ tag: 'proxies', parameters: { id: 'UUID of the volume, snapshot or node.' } }),
  window,
};
