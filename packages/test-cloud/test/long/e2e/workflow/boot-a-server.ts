import { SHOW, type Step } from '../step.js';

/** A member prepares a network, a key and a group, boots a server, and shows it. */
export const bootAServer: readonly Step[] = [
  { title: 'logs in', run: 'openstack token issue', expects: { project_id: /^[0-9a-f]{32}$/ } },
  { title: 'reads the catalog', run: 'openstack catalog list', expects: [{ Name: 'nova', Type: 'compute' }] },
  {
    title: 'reads the versions',
    run: 'openstack versions show --service compute',
    expects: [{ 'Max Microversion': '2.100' }],
  },
  { title: 'finds an image', run: 'openstack image show cirros', expects: { status: 'active', visibility: 'public' } },
  {
    title: 'lists flavors',
    run: 'openstack flavor list',
    expects: [{ Name: 'm1.tiny', RAM: 512 }, { Name: 'm1.small' }],
  },
  { title: 'creates a network', run: 'openstack network create office', expects: { name: 'office', status: 'ACTIVE' } },
  {
    title: 'gives it a subnet',
    run: 'openstack subnet create --network office --subnet-range 192.168.7.0/24 office-net',
    expects: { cidr: '192.168.7.0/24', gateway_ip: '192.168.7.1' },
  },
  {
    title: 'creates a router',
    run: 'openstack router create --external-gateway public edge',
    expects: { name: 'edge' },
  },
  {
    title: 'connects the network',
    run: 'openstack router add subnet edge office-net',
    check: 'openstack port list --device-owner network:router_interface',
    expects: [{ 'Fixed IP Addresses': [{ ip_address: '192.168.7.1' }] }],
  },
  { title: 'creates a security group', run: 'openstack security group create web', expects: { name: 'web' } },
  {
    title: 'opens a port',
    run: 'openstack security group rule create --protocol tcp --dst-port 80 web',
    expects: { port_range_min: 80, port_range_max: 80, protocol: 'tcp' },
  },
  {
    title: 'creates a key pair',
    until: '2.91',
    run: 'openstack keypair create laptop',
    check: 'openstack keypair list',
    expects: [{ Name: 'laptop' }],
  },
  {
    title: 'brings a key',
    since: '2.92',
    run: 'openstack keypair create --public-key PUBLIC_KEY laptop',
    check: 'openstack keypair list',
    expects: [{ Name: 'laptop' }],
  },
  {
    title: 'creates a server group',
    run: 'openstack server group create --policy anti-affinity apart',
    check: 'openstack server group list',
    expects: [{ Name: 'apart' }],
  },
  {
    title: 'boots a server and waits for it',
    run: 'openstack server create --flavor m1.tiny --image cirros --network office --key-name laptop --security-group web --property role=web --wait day',
    expects: { status: 'ACTIVE', name: 'day', key_name: 'laptop', properties: { role: 'web' } },
  },
  { title: 'sees its address', run: SHOW, expects: { addresses: { office: [/^192\.168\.7\.\d+$/] } } },
  {
    title: 'finds it by name',
    run: 'openstack server list --name ^day$',
    expects: [{ Name: 'day', Status: 'ACTIVE' }],
  },
  {
    title: 'finds it by status',
    run: 'openstack server list --status ACTIVE --long',
    expects: [{ Name: 'day', Status: 'ACTIVE' }],
  },
  { title: 'finds none in error', run: 'openstack server list --status ERROR', expects: [] },
  { title: 'sees its port', run: 'openstack port list --server day', expects: [{ Status: 'ACTIVE' }] },
  { title: 'reads the console log', run: 'openstack console log show day' },
  { title: 'opens a console', run: 'openstack console url show --novnc day', expects: { url: /^http/ } },
];
