// Sends a line to a guest's serial console and waits for the expected output:
// node --experimental-websocket serial.mjs URL SAY EXPECT
const [url, say, expected] = process.argv.slice(2);
const CONDITION_TIMEOUT_MS = 120_000;
const RETRY_MS = 5_000;

const socket = new WebSocket(url, ['binary']);
socket.binaryType = 'arraybuffer';
let text = '';

const end = (code, message) => {
  if (message) console.error(`${message}; the output:\n${text}`);
  socket.close();
  process.exit(code);
};
setTimeout(() => end(1, `the guest did not print "${expected}"`), CONDITION_TIMEOUT_MS);

// A guest that is still booting ignores input.
const sendLine = () => socket.send(new TextEncoder().encode(`${say}\n`));
socket.onopen = () => {
  sendLine();
  setInterval(sendLine, RETRY_MS);
};
socket.onerror = () => end(1, `${url} cannot be reached`);
socket.onclose = () => end(1, 'the console was closed');
socket.onmessage = ({ data }) => {
  text += new TextDecoder().decode(data);
  if (!text.includes(expected)) return;
  console.log(text.split('\n').findLast((line) => line.includes(expected)));
  end(0);
};
