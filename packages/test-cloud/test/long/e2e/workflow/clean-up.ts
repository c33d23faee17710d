import type { Step } from '../step.js';

/** A member deletes everything. */
export const cleanUp: readonly Step[] = [
  {
    title: 'deletes the server and waits',
    run: 'openstack server delete --wait day',
    check: 'openstack server list',
    expects: [],
  },
  { title: 'sees that its port went with it', run: 'openstack port list --device-owner compute:nova', expects: [] },
  {
    title: 'deletes the server group',
    run: 'openstack server group delete apart',
    check: 'openstack server group list',
    expects: [],
  },
  {
    title: 'deletes the key pair',
    run: 'openstack keypair delete laptop',
    check: 'openstack keypair list',
    expects: [],
  },
  {
    title: 'deletes the volume',
    run: 'openstack volume delete disk',
    check: 'openstack volume list --name disk',
    expects: [],
  },
  {
    title: 'deletes the images',
    run: 'openstack image delete copy nightly',
    check: 'openstack image list --private',
    expects: [],
  },
  {
    title: 'disconnects the network',
    run: 'openstack router remove subnet edge office-net',
    check: 'openstack port list --device-owner network:router_interface',
    expects: [],
  },
  { title: 'deletes the router', run: 'openstack router delete edge', check: 'openstack router list', expects: [] },
  { title: 'deletes the spare port', run: 'openstack port delete spare', check: 'openstack port list', expects: [] },
  {
    title: 'deletes the network',
    run: 'openstack network delete office',
    check: 'openstack network list',
    expects: [{ Name: 'private' }, { Name: 'public' }],
  },
];
