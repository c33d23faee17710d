import { SHOW, type Step } from '../step.js';

/** A member prepares a network, a key and a group, boots a server, and shows it. */
export const bootAServer: readonly Step[] = [
  { does: 'logs in', run: 'openstack token issue', gives: { project_id: /^[0-9a-f]{32}$/ } },
  { does: 'reads the catalog', run: 'openstack catalog list', gives: [{ Name: 'nova', Type: 'compute' }] },
  {
    does: 'reads the versions',
    run: 'openstack versions show --service compute',
    gives: [{ 'Max Microversion': '2.100' }],
  },
  { does: 'finds an image', run: 'openstack image show cirros', gives: { status: 'active', visibility: 'public' } },
  { does: 'lists flavors', run: 'openstack flavor list', gives: [{ Name: 'm1.tiny', RAM: 512 }, { Name: 'm1.small' }] },
  { does: 'creates a network', run: 'openstack network create office', gives: { name: 'office', status: 'ACTIVE' } },
  {
    does: 'gives it a subnet',
    run: 'openstack subnet create --network office --subnet-range 192.168.7.0/24 office-net',
    gives: { cidr: '192.168.7.0/24', gateway_ip: '192.168.7.1' },
  },
  { does: 'creates a router', run: 'openstack router create --external-gateway public edge', gives: { name: 'edge' } },
  {
    does: 'connects the network',
    run: 'openstack router add subnet edge office-net',
    check: 'openstack port list --device-owner network:router_interface',
    gives: [{ 'Fixed IP Addresses': [{ ip_address: '192.168.7.1' }] }],
  },
  { does: 'creates a security group', run: 'openstack security group create web', gives: { name: 'web' } },
  {
    does: 'opens a port',
    run: 'openstack security group rule create --protocol tcp --dst-port 80 web',
    gives: { port_range_min: 80, port_range_max: 80, protocol: 'tcp' },
  },
  {
    does: 'creates a key pair',
    until: '2.91',
    run: 'openstack keypair create laptop',
    check: 'openstack keypair list',
    gives: [{ Name: 'laptop' }],
  },
  {
    does: 'brings a key',
    since: '2.92',
    run: 'openstack keypair create --public-key PUBLIC_KEY laptop',
    check: 'openstack keypair list',
    gives: [{ Name: 'laptop' }],
  },
  {
    does: 'creates a server group',
    run: 'openstack server group create --policy anti-affinity apart',
    check: 'openstack server group list',
    gives: [{ Name: 'apart' }],
  },
  {
    does: 'boots a server and waits for it',
    run: 'openstack server create --flavor m1.tiny --image cirros --network office --key-name laptop --security-group web --property role=web --wait day',
    gives: { status: 'ACTIVE', name: 'day', key_name: 'laptop', properties: { role: 'web' } },
  },
  { does: 'sees its address', run: SHOW, gives: { addresses: { office: [/^192\.168\.7\.\d+$/] } } },
  { does: 'finds it by name', run: 'openstack server list --name ^day$', gives: [{ Name: 'day', Status: 'ACTIVE' }] },
  {
    does: 'finds it by status',
    run: 'openstack server list --status ACTIVE --long',
    gives: [{ Name: 'day', Status: 'ACTIVE' }],
  },
  { does: 'finds none in error', run: 'openstack server list --status ERROR', gives: [] },
  { does: 'sees its port', run: 'openstack port list --server day', gives: [{ Status: 'ACTIVE' }] },
  { does: 'reads the console log', run: 'openstack console log show day' },
  { does: 'opens a console', run: 'openstack console url show --novnc day', gives: { url: /^http/ } },
];
