import { describe, expect, it } from 'vitest';
import type { DriverVerb, DriverWork } from '../drivers/driver.js';
import type { Server } from '../model/index.js';
import type { Host } from '../scheduler/infrastructure.js';
import { type DistributedMachinesParts, distributedMachines } from './distributed-machines.js';
import { HostUnreachable } from './links/host-link-client.js';
import type { LinkRequest } from './links/link-request.js';
import type { MachineCall } from './machine-call.js';

const server = { id: 's1', host: 'far' } as Server;

/** Machines of two hosts: `far` is a separate process and returns the responses in turn; `near` is this process. */
function machinesWith(responses: readonly unknown[], up = true, cannot: readonly DriverVerb[] = []) {
  const requests: LinkRequest[] = [];
  const commands: MachineCall[] = [];
  const hosts = new Map([
    ['far', { name: 'far', node: { process: { cannot } } }],
    ['near', { name: 'near', node: { process: null } }],
  ]) as unknown as ReadonlyMap<string, Host>;
  const parts = {
    infrastructure: { hosts: async () => ({ hosts }), isUp: () => up },
    linkClient: {
      request: async (_host: string, request: LinkRequest) => {
        const response = responses[requests.push(request) - 1];
        if (response instanceof Error) throw response;
        return response;
      },
    },
    rpcClient: { call: async ({ call }: { call: MachineCall }) => void commands.push(call) },
  } as unknown as DistributedMachinesParts;
  const local = new Proxy({}, { get: (_, name) => async () => `${String(name)} here` });
  const machines = distributedMachines(local as Parameters<typeof distributedMachines>[0], parts);
  return { machines, requests, commands };
}

describe('a query', () => {
  const unreachable = new HostUnreachable('far', 'it is restarting');

  it('is sent to the host of its server, or executed in this process', async () => {
    const { machines, requests } = machinesWith(['text', '3 days']);
    expect(await machines.console(server, 'serial')).toBe('text');
    expect(await machines.hostUptime('far')).toBe('3 days');
    expect(requests).toEqual([
      { kind: 'machine', call: 'console', serverId: 's1', given: ['serial'] },
      { kind: 'machine', call: 'hostUptime', serverId: null, given: [] },
    ]);
    expect(await machines.console({ ...server, host: 'near' }, 'serial')).toBe('console here');
    expect(await machines.hostUptime('near')).toBe('hostUptime here');
  });

  it('is repeated while the host cannot be reached, if a repetition has no further effect', async () => {
    const { machines, requests } = machinesWith([unreachable, unreachable, 'text']);
    expect(await machines.consoleOutput(server)).toBe('text');
    expect(requests).toHaveLength(3);
  });

  it('is not repeated if it could take effect twice', async () => {
    const { machines, requests } = machinesWith([unreachable, 'rebooted']);
    await expect(machines.hostPower('far', 'reboot')).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: 'Compute service of far is unavailable at this time.',
    });
    expect(requests).toHaveLength(1);
  });

  it('is not sent to a host that is down: 409 for a server, 400 for a host, no migration progress', async () => {
    const { machines, requests } = machinesWith([], false);
    await expect(machines.diagnostics(server)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'Instance s1 cannot be reached: its host is unavailable at this time.',
    });
    await expect(machines.hostMaintenance('far', true)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(await machines.moveProgress(server)).toBeNull();
    expect(requests).toEqual([]);
  });

  it('fails with the error of the host', async () => {
    const { machines } = machinesWith([new RangeError('the machine is off')]);
    await expect(machines.diagnostics(server)).rejects.toThrow('the machine is off');
  });
});

describe('a preparation step', () => {
  const work: DriverWork = { verb: 'prepare', step: 'networking' };
  const request = { work, server, origin: { action: 'create', requestId: 'req-1' } };
  const { signal } = new AbortController();

  it('is sent to the host of its server', async () => {
    const { machines, commands } = machinesWith([]);
    await machines.perform(request, signal);
    expect(commands).toMatchObject([{ kind: 'perform', work }]);
  });

  it('is not sent to a host whose driver does not support it', async () => {
    const { machines, commands } = machinesWith([], true, ['prepare']);
    await machines.perform(request, signal);
    expect(commands).toEqual([]);
  });
});
