// Opens networks of this computer, and requests an interface with two queues while the first round builds the networks.
// Prints whether the interface's device has several queues. `ip` waits for this program as long as the pipe exists.
import { execFileSync } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { openBridgeMode } from '../../src/network/bridge-mode.js';

const [directory, pipe, ip, portId, networkId] = process.argv.slice(2);
const serverId = '33333333-3333-4333-8333-333333333333';
const subnet = { id: 's', cidr: '10.9.0.0/24', ipVersion: 4, gatewayIp: null, enableDhcp: false };
const network = { id: networkId, name: 'inside', mtu: 1500, segment: 1, provider: null };
const port = { id: portId, networkId, serverId, mac: 'fa:16:3e:00:00:01', adminStateUp: true, addresses: [] };
const plan = {
  networks: [{ ...network, subnets: [{ ...subnet, dnsNameservers: [], hostRoutes: [] }] }],
  ports: [{ ...port, portSecurityEnabled: false, securityGroupIds: [], allowedAddressPairs: [] }],
  routers: [],
  rules: [],
  members: {},
};
const opened = await openBridgeMode({
  directory,
  networks: { networkPlan: async () => plan, onNetworkChange: () => () => {} },
  tunnelPort: 4789,
  providerNetworks: {},
  vhost: false,
  log: (line) => console.error(line),
});
execFileSync('mkfifo', [pipe]);
const mode = opened({ machineIds: async () => [serverId], folderOf: () => undefined });
// Resolves when the round runs `ip`, which opens the pipe for reading.
const writer = await open(pipe, 'w');
const connected = mode.connect({ id: serverId }, [{ portId }], false, { queues: [2], virtio: true });
await rm(pipe);
await writer.close();
await connected;
const [link] = JSON.parse(execFileSync(ip, ['-json', '-details', 'link', 'show', 'type', 'tun'], { encoding: 'utf8' }));
console.log(JSON.stringify({ name: link.ifname, severalQueues: link.linkinfo.info_data.multi_queue }));
await mode.close();
