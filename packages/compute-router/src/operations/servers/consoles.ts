import { Rejection, type Server } from '@apistrata/compute-engine';
import { between, since, until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import { serverAction, serverDocs } from './server-docs.js';
import { parentServer } from './target.js';

export const serverConsoleDocs = resource({
  tag: 'consoles',
  when: {
    400: 'The request body is malformed, or the driver does not support consoles of this type.',
    409: 'The server is neither running nor paused, or it is being deleted or migrated.',
    501: 'The driver does not support consoles.',
  },
  parameters: { id: 'Token of the console, from its URL.' },
});

/** OpenAPI descriptions that several fields share. */
const consoleTexts = {
  url: 'URL of the console. Contains a token that expires.',
  protocol: 'Protocol: `vnc`, `spice`, `serial`, `rdp` (no longer available), or since 2.8 `mks`.',
  consoleType:
    'Console type: `novnc`, `xvpvnc`, `spice-html5`, `serial`, since 2.8 `webmks`, since 2.99 `spice-direct`.',
  remoteConsole: 'The remote console.',
} as const;

/** The console types that each protocol supports. `xpvnc` is an alternative spelling of `xvpvnc`. */
const typesByProtocol: Readonly<Record<string, readonly string[]>> = {
  vnc: ['novnc', 'xvpvnc', 'xpvnc'],
  spice: ['spice-html5', 'spice-direct'],
  serial: ['serial'],
  rdp: ['rdp-html5'],
  mks: ['webmks'],
};

const canonicalTypes: Readonly<Record<string, string>> = { xpvnc: 'xvpvnc' };

const CONSOLE_TYPES = ['novnc', 'xvpvnc', 'xpvnc', 'spice-html5', 'serial', 'rdp-html5'] as const;
const protocol = [
  between('2.6', '2.7', described(consoleTexts.protocol, z.enum(['vnc', 'spice', 'serial', 'rdp']))),
  since('2.8', described(consoleTexts.protocol, z.enum(['vnc', 'spice', 'serial', 'rdp', 'mks']))),
];
const consoleType = [
  between('2.6', '2.7', described(consoleTexts.consoleType, z.enum(CONSOLE_TYPES))),
  between('2.8', '2.98', described(consoleTexts.consoleType, z.enum([...CONSOLE_TYPES, 'webmks']))),
  since('2.99', described(consoleTexts.consoleType, z.enum([...CONSOLE_TYPES, 'webmks', 'spice-direct']))),
];

function openConsole({ engine, context }: ComputeCall, target: Server, type: string): Promise<string> {
  return engine.consoles.open(context, target, canonicalTypes[type] ?? type);
}

/** Former actions that open consoles of a single type. One operation for all types replaced these actions. */
const legacyConsoles = [
  {
    name: 'getServerVncConsole',
    action: 'os-getVNCConsole',
    description:
      'Creates a VNC console and returns its URL. Replaced by `createRemoteConsole` with the protocol `vnc`.',
    type: z.enum(['novnc', 'xvpvnc', 'xpvnc']),
    typeDescription: 'Type of the console: `novnc` or `xvpvnc`.',
  },
  {
    name: 'getServerSpiceConsole',
    action: 'os-getSPICEConsole',
    description:
      'Creates a SPICE console and returns its URL. Replaced by `createRemoteConsole` with the protocol `spice`.',
    type: z.literal('spice-html5'),
    typeDescription: 'Type of the console: `spice-html5`.',
  },
  {
    name: 'getServerSerialConsole',
    action: 'os-getSerialConsole',
    description:
      'Creates a serial console and returns its URL. Replaced by `createRemoteConsole` with the protocol `serial`.',
    type: z.literal('serial'),
    typeDescription: 'Type of the console: `serial`.',
  },
] as const;

export const serverConsoles = [
  operation({
    ...serverConsoleDocs,
    name: 'createRemoteConsole',
    method: 'POST',
    path: '/servers/{server_id}/remote-consoles',
    window: since('2.6', true),
    summary: 'Create a remote console for a server',
    description:
      'Creates a remote console and returns its URL, which contains a token that expires. The server must be running or paused.',
    policy: 'os_compute_api:os-remote-consoles',
    status: 200,
    errors: [400, 404, 409, 501],
    body: object({ remote_console: described(consoleTexts.remoteConsole, object({ protocol, type: consoleType })) }),
    target: parentServer,
    reply: {
      remote_console: described(consoleTexts.remoteConsole, {
        protocol,
        type: consoleType,
        url: described(consoleTexts.url, z.url()),
      }),
    },
    run: async (call) => {
      const { protocol: requested, type } = call.body.remote_console as { protocol: string; type: string };
      if (requested === 'rdp' || !typesByProtocol[requested]?.includes(type))
        throw new Rejection('BAD_REQUEST', `Unavailable console type ${type} for protocol ${requested}.`);
      const url = await openConsole(call, call.target, type);
      return { remote_console: { protocol: requested, type, url } } as never;
    },
  }),
  ...legacyConsoles.map(({ name, action, description, type, typeDescription }) =>
    operation({
      ...serverAction,
      when: { ...serverConsoleDocs.when },
      name,
      action,
      window: until('2.5', true),
      summary: `Open a server console (${action})`,
      description,
      policy: 'os_compute_api:os-remote-consoles',
      status: 200,
      errors: [400, 404, 409, 501],
      body: object({
        [action]: described('The console to create.', z.strictObject({ type: type.describe(typeDescription) })),
      }),
      reply: {
        console: described(
          'The console.',
          object({ type: described('Type of the console.', type), url: described(consoleTexts.url, z.url()) }),
        ),
      },
      run: async (call) => {
        const requestedType = (call.body as Readonly<Record<typeof action, { type: string }>>)[action].type;
        return { console: { type: requestedType, url: await openConsole(call, call.target, requestedType) } } as never;
      },
    }),
  ),
  operation({
    ...serverAction,
    name: 'getServerRdpConsole',
    action: 'os-getRDPConsole',
    window: until('2.5', true),
    summary: 'Open an RDP console (removed)',
    description:
      'This action is always rejected, because RDP consoles were removed together with the driver that provided them.',
    status: 200,
    errors: [400, 404, 409, 501],
    run: () => {
      throw new Rejection('BAD_REQUEST', 'Unavailable console type rdp-html5.');
    },
  }),
  operation({
    ...serverAction,
    name: 'showServerConsoleOutput',
    action: 'os-getConsoleOutput',
    summary: 'Show the console output of a server',
    description: 'Shows the console output of a server, or its last `length` lines.',
    policy: 'os_compute_api:os-console-output',
    status: 200,
    errors: [404, 409, 501],
    when: { ...serverDocs.when, 409: 'The server does not have a host.' },
    body: object({
      'os-getConsoleOutput': described(
        'Options for the console output.',
        object({
          length: described(
            'Number of lines to return from the end of the output. -1 means all lines. Default: -1.',
            z
              .union([
                z.int().min(-1),
                z
                  .string()
                  .regex(/^-?[0-9]+$/)
                  .transform(Number)
                  .pipe(z.int().min(-1)),
              ])
              .nullable()
              .optional(),
          ),
        }),
      ),
    }),
    reply: { output: described('Console output of the guest.', z.string()) },
    run: async ({ engine, context, target, body }) => ({
      output: await engine.consoles.output(context, target, body['os-getConsoleOutput'].length ?? undefined),
    }),
  }),
];
