// A workflow with pkgcloud: servers, volumes and networks of the cloud that the environment variables specify.
const { promisify } = require('node:util');
const { setTimeout: pause } = require('node:timers/promises');
const pkgcloud = require('pkgcloud');

const { env } = process;
const options = {
  provider: 'openstack',
  authUrl: env.OS_AUTH_URL.replace(/\/v3$/, ''),
  keystoneAuthVersion: 'v3',
  username: env.OS_USERNAME,
  password: env.OS_PASSWORD,
  domainName: env.OS_USER_DOMAIN_NAME,
  tenantName: env.OS_PROJECT_NAME,
  projectDomainName: env.OS_PROJECT_DOMAIN_NAME,
  region: env.OS_REGION_NAME,
};

/** A client whose methods return promises. */
function clientOf(kind) {
  const client = pkgcloud[kind].createClient({ ...options });
  // The library finds the first version of the volume API by its name; the third version has the same requests.
  if (kind === 'blockstorage') client.serviceType = 'volumev3';
  return new Proxy(client, { get: (_, name) => promisify(client[name].bind(client)) });
}

function check(what, holds) {
  if (!holds) throw new Error(`${what} does not hold`);
}

async function until(what, holds) {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (await holds()) return;
    await pause(100);
  }
  throw new Error(`${what} did not happen`);
}

async function networks(network) {
  const office = await network.createNetwork({ name: 'office' });
  const desks = await network.createSubnet({
    name: 'desks',
    networkId: office.id,
    cidr: '192.168.9.0/24',
    ip_version: 4,
  });
  const port = await network.createPort({ name: 'front', networkId: office.id });
  check('the port', (await network.getPort(port.id)).fixedIps[0].ip_address.startsWith('192.168.9.'));
  await network.destroyPort(port.id);
  const group = await network.createSecurityGroup({ name: 'web', description: 'a group' });
  const rule = await network.createSecurityGroupRule({
    securityGroupId: group.id,
    direction: 'ingress',
    ethertype: 'IPv4',
    protocol: 'tcp',
    portRangeMin: 80,
    portRangeMax: 80,
  });
  check(
    'the rule',
    (await network.getSecurityGroupRules()).some(({ id }) => id === rule.id),
  );
  await network.destroySecurityGroupRule(rule.id);
  await network.destroySecurityGroup(group.id);
  await network.destroySubnet(desks.id);
  await network.destroyNetwork(office.id);
}

async function volumes(blockstorage) {
  const { id } = await blockstorage.createVolume({ name: 'disk', description: 'a disk', size: 1 });
  await until('the volume', async () => (await blockstorage.getVolume(id)).status === 'available');
  const snapshot = await blockstorage.createSnapshot({ name: 'kept', description: 'kept', volumeId: id });
  await until('the snapshot', async () => (await blockstorage.getSnapshot(snapshot.id)).status === 'available');
  check('the volume types', (await blockstorage.getVolumeTypes()).length > 0);
  await blockstorage.deleteSnapshot(snapshot.id);
  await blockstorage.deleteVolume(id);
}

async function servers(compute, network) {
  const flavor = (await compute.getFlavors()).find(({ name }) => name === 'm1.tiny');
  const image = (await compute.getImages()).find(({ name }) => name === 'cirros');
  const inside = (await network.getNetworks()).find(({ name }) => name === 'private');
  const { id } = await compute.createServer({ name: 'web', flavor, image, networks: [{ uuid: inside.id }] });
  const status = async () => (await compute.getServer(id)).status;
  await until('the server', async () => (await status()) === 'RUNNING');
  await compute.rebootServer(id, { type: 'hard' });
  await until('the server after its reboot', async () => (await status()) === 'RUNNING');
  await compute.addKey({ name: 'deploy' }).then((key) => check('the key', key.name === 'deploy'));
  await compute.destroyKey('deploy');
  await compute.destroyServer(id);
  await until('the deletion', async () => (await compute.getServers()).length === 0);
}

async function main() {
  const [compute, network, blockstorage] = ['compute', 'network', 'blockstorage'].map(clientOf);
  await networks(network);
  await volumes(blockstorage);
  await servers(compute, network);
  console.log('done');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
