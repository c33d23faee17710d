import { testServers } from './test-servers.mjs';

/** Returns a free port for the inspector of a process, and the Node options that open the inspector on that port. */
export async function inspectorPort() {
  const { freePort } = await testServers();
  const port = await freePort();
  return { port, flags: [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http'] };
}

/** Connects to the inspector of a process. Returns a function that sends a command, and one that disconnects. */
async function connect(port) {
  const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`the inspector on port ${port} does not respond`)));
  });
  const pending = new Map();
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const { resolve, reject } = pending.get(id) ?? {};
    pending.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  });
  let last = 0;
  const send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      pending.set(++last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return { send, close: () => socket.close() };
}

/** Opens the inspector of a process. */
export async function inspect(port) {
  const { send, close } = await connect(port);
  return {
    /** Disconnects from the inspected process, which does not exit while a debugger is connected. */
    close,
    /** Returns the size of the heap after a full garbage collection, in bytes. */
    heapBytes: async () => {
      await send('HeapProfiler.collectGarbage');
      return (await send('Runtime.getHeapUsage')).usedSize;
    },
    /** Runs a function and returns its CPU profile, in the format of `node --cpu-prof`. */
    profile: async (work) => {
      await send('Profiler.enable');
      await send('Profiler.setSamplingInterval', { interval: 200 });
      await send('Profiler.start');
      await work();
      return (await send('Profiler.stop')).profile;
    },
  };
}
