// Requests an IPv6 address as a guest does, and prints the offered address. Arguments: a device, and its MAC address.
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';

const [device, mac] = process.argv.slice(2);
const [SOLICIT, ADVERTISE] = [1, 2];
const [CLIENT_ID, IA_NA, IA_ADDRESS, ELAPSED] = [1, 3, 5, 8];

function option(code, data) {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(code, 0);
  head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, data]);
}

function* options(data) {
  for (let at = 0; at + 4 <= data.length; ) {
    const length = data.readUInt16BE(at + 2);
    yield [data.readUInt16BE(at), data.subarray(at + 4, at + 4 + length)];
    at += 4 + length;
  }
}

const local = networkInterfaces()[device]?.find(({ scopeid }) => scopeid)?.address;
if (!local) throw new Error(`${device} has no address of its own yet`);
const duid = Buffer.from(`00030001${mac.replaceAll(':', '')}`, 'hex');
const identity = Buffer.from('000000010000000000000000', 'hex');
const solicit = Buffer.concat([
  Buffer.from([SOLICIT, 1, 2, 3]),
  option(CLIENT_ID, duid),
  option(IA_NA, identity),
  option(ELAPSED, Buffer.alloc(2)),
]);
const socket = createSocket('udp6');
socket.on('message', (message) => {
  if (message[0] !== ADVERTISE) return;
  for (const [code, data] of options(message.subarray(4)))
    if (code === IA_NA)
      for (const [inner, given] of options(data.subarray(12)))
        if (inner === IA_ADDRESS) {
          const groups = Array.from({ length: 8 }, (_, index) => given.readUInt16BE(index * 2).toString(16));
          const { hostname } = new URL(`http://[${groups.join(':')}]/`);
          console.log(JSON.stringify({ address: hostname.slice(1, -1) }));
          process.exit();
        }
});
socket.bind({ port: 546, address: `${local}%${device}` }, () => {
  const sendSolicit = () => socket.send(solicit, 547, `ff02::1:2%${device}`);
  sendSolicit();
  setInterval(sendSolicit, 1_000);
  setTimeout(() => process.exit(1), 20_000);
});
