import type { Step } from '../step.js';

/** A member deletes everything. */
export const cleanUp: readonly Step[] = [
  {
    does: 'deletes the server and waits',
    run: 'openstack server delete --wait day',
    check: 'openstack server list',
    gives: [],
  },
  { does: 'sees that its port went with it', run: 'openstack port list --device-owner compute:nova', gives: [] },
  {
    does: 'deletes the server group',
    run: 'openstack server group delete apart',
    check: 'openstack server group list',
    gives: [],
  },
  { does: 'deletes the key pair', run: 'openstack keypair delete laptop', check: 'openstack keypair list', gives: [] },
  {
    does: 'deletes the volume',
    run: 'openstack volume delete disk',
    check: 'openstack volume list --name disk',
    gives: [],
  },
  {
    does: 'deletes the images',
    run: 'openstack image delete copy nightly',
    check: 'openstack image list --private',
    gives: [],
  },
  {
    does: 'disconnects the network',
    run: 'openstack router remove subnet edge office-net',
    check: 'openstack port list --device-owner network:router_interface',
    gives: [],
  },
  { does: 'deletes the router', run: 'openstack router delete edge', check: 'openstack router list', gives: [] },
  { does: 'deletes the spare port', run: 'openstack port delete spare', check: 'openstack port list', gives: [] },
  {
    does: 'deletes the network',
    run: 'openstack network delete office',
    check: 'openstack network list',
    gives: [{ Name: 'private' }, { Name: 'public' }],
  },
];
