// Creates a WireGuard interface in this network namespace, and connects it to a peer, if the peer's description and
// address are given. Prints the interface's own description.
import { readFileSync } from 'node:fs';
import { DeviceNames } from '../../src/network/device-names.js';
import { IpTool } from '../../src/network/ip-tool.js';
import { Wireguard } from '../../src/network/wireguard.js';
import { findProgram } from '../../src/programs/find-program.js';

const [folder, port, peerFile, peerAddress] = process.argv.slice(2);
const names = new DeviceNames('ab');
const ip = new IpTool(findProgram('ip', 'iproute2'), names);
const wireguard = await Wireguard.open({ folder, ip, names, port: Number(port), log: (line) => console.error(line) });
if (peerFile) {
  const { publicKey, port: peerPort } = JSON.parse(readFileSync(peerFile, 'utf8'));
  await wireguard.configurePeers([{ publicKey, port: peerPort, address: peerAddress }]);
}
const { device, publicKey, address } = wireguard;
console.log(JSON.stringify({ device, publicKey, address, port: wireguard.port }));
